"""An image and a filter of 5 x 5."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
