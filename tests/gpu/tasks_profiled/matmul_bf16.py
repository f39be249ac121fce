import torch
import torch.nn as nn

m = 2048
k = 4096
n = 2048


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(m, k, dtype=torch.bfloat16), torch.randn(k, n, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
