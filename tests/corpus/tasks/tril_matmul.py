import torch
import torch.nn as nn

n = 150
k = 130


class Model(nn.Module):
    def forward(self, lower, b):
        return torch.matmul(lower, b)


def get_inputs():
    return [torch.tril(torch.randn(n, n)), torch.randn(n, k)]


def get_init_inputs():
    return []
