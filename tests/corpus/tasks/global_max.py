import torch
import torch.nn as nn

rows = 301
cols = 401


class Model(nn.Module):
    def forward(self, x):
        return torch.amax(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
