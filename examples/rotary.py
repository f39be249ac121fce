"""Rotary positions: every head of queries and keys, its halves turned against each other by an angle per position."""

import torch
import torch.nn as nn

batch = 4
heads = 32
positions = 1024
width = 128


def turned(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Model(nn.Module):
    def forward(self, query, key, angle):
        cosine, sine = angle.cos(), angle.sin()
        return turned(query, cosine, sine), turned(key, cosine, sine)


def get_inputs():
    shape = (batch, heads, positions, width)
    return [torch.randn(shape), torch.randn(shape), torch.randn(positions, width // 2)]


def get_init_inputs():
    return []
