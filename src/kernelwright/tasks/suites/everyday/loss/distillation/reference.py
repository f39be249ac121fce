"""KL divergence of every sample from teacher to student, both softened by a temperature."""

import torch

TEMPERATURE = 2.0


class Model(torch.nn.Module):
    def forward(self, student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        guess = torch.log_softmax(student / TEMPERATURE, dim=-1)
        truth = torch.log_softmax(teacher / TEMPERATURE, dim=-1)
        return (truth.exp() * (truth - guess)).sum(dim=-1) * TEMPERATURE**2
