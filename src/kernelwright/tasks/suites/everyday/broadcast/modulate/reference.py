"""Adaptive modulation: every sample scales and shifts all its tokens by its own condition."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
