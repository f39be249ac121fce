import torch


class Model(torch.nn.Module):
    def forward(self, values, places):
        return torch.zeros(512, dtype=values.dtype).index_add_(0, places, values)
