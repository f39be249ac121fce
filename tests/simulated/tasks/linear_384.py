import torch
import torch.nn as nn

size = 384


class Model(nn.Module):
    def forward(self, a, b, bias):
        return torch.relu(a @ b + bias)


def get_inputs():
    return [torch.randn(size, size), torch.randn(size, size), torch.randn(size)]


def get_init_inputs():
    return []
