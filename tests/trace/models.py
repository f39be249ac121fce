"""Modules as people write them, for tests that take them apart."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import torch
from torch import nn

SLOPE = 0.25


@dataclass
class Config:
    width: int
    act: type[nn.Module] = nn.ReLU


def leaned(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x, SLOPE * x)


class Scale(nn.Module):
    def __init__(self, width: int, act=leaned) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.act = act

    def forward(self, x: torch.Tensor, power: int = 1, mask: torch.Tensor | None = None) -> torch.Tensor:
        scaled = self.act(x) * self.weight**power
        return scaled if mask is None else scaled * mask


class Stack(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.parts = nn.ModuleList(Scale(config.width) for _ in range(2))
        self.last = config.act()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = part(x, power=2)
        return self.last(x)


class Around(nn.Module):
    def __init__(self, inner: nn.Module, options: argparse.Namespace) -> None:
        super().__init__()
        self.inner, self.by = inner, options.by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.by * self.inner(x)


class Model(nn.Module):
    """Named like a task's own, and saying so the old way."""

    def __init__(self) -> None:
        super(Model, self).__init__()  # noqa: UP008
        self.linear = nn.Linear(4, 4)

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return self.linear(pair[0]) + pair[1]


class Noisy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn_like(x)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return 2 * x
