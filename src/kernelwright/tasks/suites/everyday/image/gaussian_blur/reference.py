"""A blur of five by five pixels in two passes, with mirrored edges."""

import torch


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("taps", torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) / 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        channels = x.shape[1]
        padded = torch.nn.functional.pad(x, (2, 2, 2, 2), mode="reflect")
        across = self.taps.view(1, 1, 1, 5).expand(channels, 1, 1, 5)
        down = self.taps.view(1, 1, 5, 1).expand(channels, 1, 5, 1)
        rows = torch.nn.functional.conv2d(padded, across, groups=channels)
        return torch.nn.functional.conv2d(rows, down, groups=channels)
