import torch
import torch.nn as nn

words = 700
width = 96
batch = 24
length = 40


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
