"""Feature maps at twice their size, with bilinear interpolation."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
