import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 3
channels = 8
height = 45
width = 38


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, kernel_size=3, stride=2, padding=1)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
