import torch
import torch.nn as nn

m = 192
k = 384
n = 256


class Model(nn.Module):
    def forward(self, x, w, b):
        return torch.relu(x @ w.T + b)


def get_inputs():
    return [torch.randn(m, k), torch.randn(n, k), torch.randn(n)]


def get_init_inputs():
    return []
