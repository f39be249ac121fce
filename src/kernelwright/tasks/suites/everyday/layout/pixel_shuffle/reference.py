"""Channels become pixels: the last step of a network that doubles resolution."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pixel_shuffle(x, 2)
