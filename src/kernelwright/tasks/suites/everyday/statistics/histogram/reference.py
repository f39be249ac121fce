"""How often each of 256 levels occurs in every picture."""

import torch

LEVELS = 256


class Model(torch.nn.Module):
    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        places = pixels.to(torch.int64)
        counts = torch.zeros(pixels.shape[0], LEVELS, dtype=torch.int64, device=pixels.device)
        return counts.scatter_add(1, places, torch.ones_like(places))
