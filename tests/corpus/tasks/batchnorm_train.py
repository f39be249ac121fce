import torch
import torch.nn as nn

batch = 24
features = 7
height = 13
width = 11


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm2d(features)

    def forward(self, x):
        return self.bn(x)


def get_inputs():
    return [torch.randn(batch, features, height, width)]


def get_init_inputs():
    return [features]
