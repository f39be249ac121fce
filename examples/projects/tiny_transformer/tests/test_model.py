import math
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from model import Attention, TinyTransformer


def plain(attention: Attention, x: torch.Tensor) -> torch.Tensor:
    """Query by query, in double precision."""
    width, size = x.shape[-1], x.shape[-1] // attention.heads
    joined = torch.empty_like(x, dtype=torch.float64)
    qkv = (x.double() @ attention.qkv.weight.double().T + attention.qkv.bias.double()).split(width, dim=-1)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            for h in range(attention.heads):
                q, k, v = (one[b, :, h * size : (h + 1) * size] for one in qkv)
                weights = torch.softmax(k[: t + 1] @ q[t] / math.sqrt(size), dim=0)
                joined[b, t, h * size : (h + 1) * size] = weights @ v[: t + 1]
    return joined @ attention.out.weight.double().T + attention.out.bias.double()


@pytest.mark.parametrize(("batch", "tokens", "width", "heads"), [(1, 1, 8, 2), (2, 5, 16, 4), (3, 17, 24, 3)])
def test_attention_is_what_the_formula_says(batch, tokens, width, heads):
    torch.manual_seed(tokens)
    attention, x = Attention(width, heads), torch.randn(batch, tokens, width)
    torch.testing.assert_close(attention(x).double(), plain(attention, x), rtol=1e-4, atol=1e-5)


def test_no_token_sees_a_later_one():
    torch.manual_seed(0)
    model, tokens = TinyTransformer(), torch.randint(256, (1, 12))
    changed = tokens.clone()
    changed[0, 8:] = (changed[0, 8:] + 1) % 256
    torch.testing.assert_close(model(tokens)[:, :8], model(changed)[:, :8])


def test_gradients_flow_to_every_weight():
    torch.manual_seed(0)
    model = TinyTransformer(depth=1)
    model(torch.randint(256, (2, 9))).square().mean().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.blocks.parameters())
