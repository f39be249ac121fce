"""The short convolution of a state-space model: each channel over its own last four steps, then SiLU."""

import torch

BATCH, CHANNELS, STEPS, TAPS = 4, 512, 2048, 4


class Model(torch.nn.Module):
    def __init__(self, channels: int, taps: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, channels, taps, groups=channels, padding=taps - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.conv(x)[..., : x.shape[-1]])


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, CHANNELS, STEPS)]


def get_init_inputs() -> list[int]:
    return [CHANNELS, TAPS]
