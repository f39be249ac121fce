"""8-bit weights become numbers again; every 64 in a row share a scale."""

import torch

GROUP = 64


class Model(torch.nn.Module):
    def forward(self, levels: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        groups = levels.view(*scales.shape, GROUP).to(scales.dtype)
        return (groups * scales.unsqueeze(-1)).view(levels.shape)
