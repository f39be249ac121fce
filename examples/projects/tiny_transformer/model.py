"""A small decoder: embedding, blocks of attention and a feed-forward part, logits."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    # REFERENCE begin
    # softmax(q k^T / sqrt(d), over keys no later than the query) v, for each head; heads joined, then `out`.
    # REFERENCE end

    # EVOLVE begin attention
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens, width = x.shape[1:]
        size = width // self.heads
        q, k, v = self.qkv(x).split(width, dim=-1)
        joined = []
        for head in range(self.heads):
            part = slice(head * size, (head + 1) * size)
            scores = q[..., part] @ k[..., part].transpose(-2, -1) / math.sqrt(size)
            later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
            joined.append(scores.softmax(dim=-1) @ v[..., part])
        return self.out(torch.cat(joined, dim=-1))

    # EVOLVE end


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.between = nn.LayerNorm(width)
        self.forth, self.back = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        return x + self.back(torch.relu(self.forth(self.between(x))))


class TinyTransformer(nn.Module):
    def __init__(self, words: int = 256, width: int = 128, heads: int = 8, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.logits = nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.logits(self.blocks(self.embedding(tokens)))
