"""Rows as 8-bit integers, each with the scale that its largest number asks for."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        largest = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-6)
        levels = torch.round(x * (127 / largest)).to(torch.int8)
        return levels, largest / 127
