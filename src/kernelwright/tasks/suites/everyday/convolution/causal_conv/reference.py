"""A causal convolution over four steps of every channel by itself, then SiLU, as in a state-space model."""

import torch


class Model(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, channels, kernel_size=4, groups=channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.conv(torch.nn.functional.pad(x, (3, 0))))
