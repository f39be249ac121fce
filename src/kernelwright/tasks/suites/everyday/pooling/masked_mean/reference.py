"""Sentence embeddings: the mean of the tokens that are no padding."""

import torch


class Model(torch.nn.Module):
    def forward(self, tokens: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        total = (tokens * keep.unsqueeze(-1)).sum(dim=1)
        return total / keep.sum(dim=1, keepdim=True).clamp(min=1)
