"""A centred moving average over 25 steps of many series; at the ends over those that are there."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool1d(x, kernel_size=25, stride=1, padding=12, count_include_pad=False)
