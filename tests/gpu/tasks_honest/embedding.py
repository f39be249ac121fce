import torch
import torch.nn as nn

words = 50000
width = 768
batch = 64
length = 512


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, ids):
        return self.table(ids)


def get_inputs():
    return [torch.randint(0, words, (batch, length))]


def get_init_inputs():
    return [words, width]
