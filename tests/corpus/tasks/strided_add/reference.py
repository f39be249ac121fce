import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a * 2 + b
