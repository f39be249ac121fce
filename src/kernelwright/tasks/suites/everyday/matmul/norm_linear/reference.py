"""RMSNorm, then a linear layer: how every projection of a language model begins."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(inner))
        self.linear = torch.nn.Linear(inner, outer, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)
        return self.linear(x * scale * self.gain)
