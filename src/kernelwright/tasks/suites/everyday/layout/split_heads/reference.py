"""One projection taken apart into heads: queries, scaled, keys and values, each in memory of its own."""

import torch


class Model(torch.nn.Module):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, joint: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, tokens, width = joint.shape
        parts = joint.view(batch, tokens, 3, self.heads, width // (3 * self.heads))
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        return queries * queries.shape[-1] ** -0.5, keys.contiguous(), values.contiguous()
