import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x, gate):
        return F.silu(x) * gate
