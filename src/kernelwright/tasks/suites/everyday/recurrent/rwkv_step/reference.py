"""One step of RWKV's time mixing: what it says, and the state it keeps (sum, weight and largest exponent)."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.decay = torch.nn.Parameter(torch.randn(width))
        self.bonus = torch.nn.Parameter(torch.randn(width))

    def forward(
        self, key: torch.Tensor, value: torch.Tensor, total: torch.Tensor, weight: torch.Tensor, largest: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        top = torch.maximum(largest, key + self.bonus)
        past, now = torch.exp(largest - top), torch.exp(key + self.bonus - top)
        said = (past * total + now * value) / (past * weight + now)
        faded = largest - torch.exp(self.decay)
        top = torch.maximum(faded, key)
        past, now = torch.exp(faded - top), torch.exp(key - top)
        return said, past * total + now * value, past * weight + now, top
