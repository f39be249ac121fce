"""Discounted returns of episodes: what each step's reward and all later ones are worth."""

import torch

DISCOUNT = 0.97


class Model(torch.nn.Module):
    def forward(self, rewards: torch.Tensor) -> torch.Tensor:
        worth = torch.zeros_like(rewards[:, 0])
        found = []
        for step in reversed(range(rewards.shape[1])):
            worth = rewards[:, step] + DISCOUNT * worth
            found.append(worth)
        return torch.stack(found[::-1], dim=1)
