import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 4
channels = 6
length = 900


class Model(nn.Module):
    def forward(self, x):
        return F.avg_pool1d(x, kernel_size=5, stride=3)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return []
