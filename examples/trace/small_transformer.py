"""A small transformer that answers requests of two sizes, written as such models are published: clear, and not fast.

    kernelwright trace examples/trace/small_transformer.py --out tasks

The normalisation and the activation are spelled out, operator by operator, each of which reads and writes all of it;
the matrix products next to them are the library's.
"""

import argparse
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    width: int = 256
    heads: int = 4
    layers: int = 4
    words: int = 1000


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class NewGELU(nn.Module):
    """The activation of GPT-2, with the hyperbolic tangent."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x: torch.Tensor, causal: bool) -> torch.Tensor:
        batch, tokens, width = x.shape
        parts = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


class FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.act = NewGELU()
        self.down = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.act(self.up(x)))


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm_in = RMSNorm(config.width)
        self.attention = Attention(config)
        self.norm_mid = RMSNorm(config.width)
        self.feed_forward = FeedForward(config.width, 4 * config.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm_in(x), causal=True)
        return x + self.feed_forward(self.norm_mid(x))


class Transformer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.words, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width)
        self.head = nn.Linear(config.width, config.words, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.embed(words)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=24)
    asked = parser.parse_args()
    torch.manual_seed(0)
    config = Config()
    model = Transformer(config).eval()
    likeliest = 0.0
    with torch.inference_mode():
        for number in range(asked.requests):
            batch, tokens = (8, 192) if number % 4 else (2, 320)
            scores = model(torch.randint(config.words, (batch, tokens)))
            likeliest += float(scores.softmax(-1).amax())
    print(f"answered {asked.requests} requests; mean of the likeliest word's chance {likeliest / asked.requests:.4f}")


if __name__ == "__main__":
    main()
