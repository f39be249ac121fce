import torch


class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(features))

    def forward(self, x):
        mean = x.pow(2).mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(mean + 1e-6) * self.weight
