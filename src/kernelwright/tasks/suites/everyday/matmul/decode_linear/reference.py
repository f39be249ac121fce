"""A linear layer for the one token that a language model writes next, for a few users at a time."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)
