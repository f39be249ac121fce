"""One step of a selective state-space model: what it says, and its new state."""

import torch


class Model(torch.nn.Module):
    def __init__(self, channels: int, states: int) -> None:
        super().__init__()
        self.decay = torch.nn.Parameter(torch.rand(channels, states))
        self.bias = torch.nn.Parameter(torch.randn(channels))
        self.skip = torch.nn.Parameter(torch.randn(channels))

    def forward(
        self, x: torch.Tensor, step: torch.Tensor, write: torch.Tensor, read: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        step = torch.nn.functional.softplus(step + self.bias).unsqueeze(-1)
        kept = state * torch.exp(-step * torch.exp(self.decay))
        state = kept + step * write.unsqueeze(1) * x.unsqueeze(-1)
        return (state * read.unsqueeze(1)).sum(dim=-1) + self.skip * x, state
