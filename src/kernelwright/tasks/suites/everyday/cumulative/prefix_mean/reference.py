"""The mean of everything so far, at every step of a series."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(1, x.shape[-1] + 1, device=x.device)
        return torch.cumsum(x, dim=-1) / steps
