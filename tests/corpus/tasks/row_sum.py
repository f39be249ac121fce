import torch
import torch.nn as nn

rows = 512
cols = 1000


class Model(nn.Module):
    def forward(self, x):
        return x.sum(dim=-1)


def get_inputs():
    return [torch.rand(rows, cols)]


def get_init_inputs():
    return []
