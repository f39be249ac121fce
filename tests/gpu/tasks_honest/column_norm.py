import torch
import torch.nn as nn

rows = 16384
cols = 2048


class Model(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=0, keepdim=True)
        gap = x - mean
        return gap * torch.rsqrt(gap.square().mean(dim=0, keepdim=True) + 1e-5)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
