import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 96
inner = 128
outer = 144


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(batch, inner)]


def get_init_inputs():
    return [inner, outer]
