"""A small reference in KernelBench form, shared by tests."""

from pathlib import Path

SOFTMAX = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.softmax(x * self.scale, dim=1)


batch_size = 4096  # größer
dim = 393216
scale = 2.0


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return [scale]
"""


def write_reference(folder: Path, text: str = SOFTMAX, name: str = "softmax.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
