import torch
import torch.nn as nn

batch = 8192
classes = 5003


class Model(nn.Module):
    def forward(self, logits, targets):
        return nn.functional.cross_entropy(logits, targets)


def get_inputs():
    # One number from millions hardly varies by itself.
    return [torch.randn(batch, classes) * (1 + torch.rand(1)), torch.randint(0, classes, (batch,))]


def get_init_inputs():
    return []
