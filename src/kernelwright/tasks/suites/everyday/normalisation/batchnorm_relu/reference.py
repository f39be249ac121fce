"""Batch norm with the statistics of training, then ReLU."""

import torch


class Model(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(channels)
        torch.nn.init.normal_(self.norm.running_mean)
        torch.nn.init.uniform_(self.norm.running_var, 0.5, 2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(x))
