"""The loss of every token of a language model, with a penalty on the size of its logits."""

import torch
import torch.nn as nn

tokens = 4096
words = 16384
penalty = 1e-4


class Model(nn.Module):
    def forward(self, logits, target):
        scale = torch.logsumexp(logits, dim=-1)
        chosen = logits.gather(1, target[:, None])[:, 0]
        return scale - chosen + penalty * scale.square()


def get_inputs():
    return [3 * torch.randn(tokens, words), torch.randint(words, (tokens,))]


def get_init_inputs():
    return []
