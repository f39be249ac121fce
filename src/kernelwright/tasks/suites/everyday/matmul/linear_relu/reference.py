"""A linear layer with bias and ReLU."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))
