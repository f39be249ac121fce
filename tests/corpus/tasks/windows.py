import torch
import torch.nn as nn

rows = 64
cols = 300


class Model(nn.Module):
    def forward(self, x):
        return x.unfold(1, 16, 1).contiguous()


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
