import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1, stable=True).indices
