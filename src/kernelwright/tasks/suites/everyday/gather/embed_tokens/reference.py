"""Token embeddings plus embeddings of their positions."""

import torch


class Model(torch.nn.Module):
    def __init__(self, words: int, positions: int, width: int) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.positions = torch.nn.Embedding(positions, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.words(tokens) + self.positions.weight[: tokens.shape[1]]
