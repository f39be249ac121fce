"""Attention weights from scores of which some are masked out."""

import torch


class Model(torch.nn.Module):
    def forward(self, scores: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=-1)
