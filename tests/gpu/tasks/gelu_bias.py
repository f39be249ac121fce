import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 8192
features = 4096


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return F.gelu(x * self.weight + self.bias)


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features]
