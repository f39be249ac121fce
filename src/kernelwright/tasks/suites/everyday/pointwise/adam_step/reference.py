"""One step of AdamW on a flat parameter: new values, and both moments."""

import torch

RATE, DECAY, FIRST, SECOND, STEP = 0.01, 0.1, 0.9, 0.999, 10


class Model(torch.nn.Module):
    def forward(
        self, value: torch.Tensor, grad: torch.Tensor, mean: torch.Tensor, square: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean = FIRST * mean + (1 - FIRST) * grad
        square = SECOND * square + (1 - SECOND) * grad * grad
        step = (mean / (1 - FIRST**STEP)) / ((square / (1 - SECOND**STEP)).sqrt() + 1e-8)
        return value * (1 - RATE * DECAY) - RATE * step, mean, square
