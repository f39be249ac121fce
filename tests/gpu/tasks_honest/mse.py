import torch
import torch.nn as nn

rows = 8192
cols = 4096


class Model(nn.Module):
    def forward(self, a, b):
        return nn.functional.mse_loss(a, b)


def get_inputs():
    # One number from millions hardly varies by itself.
    return [torch.randn(rows, cols) * (1 + torch.rand(1)), torch.randn(rows, cols)]


def get_init_inputs():
    return []
