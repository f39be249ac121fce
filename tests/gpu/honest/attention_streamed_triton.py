# entry: attention in one pass
# task: attention
# expect: CORRECT
"""Never holds a row of scores: keys come in blocks, the sums are rescaled as the largest score grows."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, y_ptr, length, scale, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    lane = tl.arange(0, WIDTH)
    own = head + query[:, None] * WIDTH + lane[None, :]
    q = tl.load(q_ptr + own, mask=query[:, None] < length, other=0.0)
    top = tl.full((QUERIES,), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    sums = tl.zeros((QUERIES, WIDTH), tl.float32)
    for start in range(0, length, KEYS):
        key = start + tl.arange(0, KEYS)
        place = head + key[:, None] * WIDTH + lane[None, :]
        k = tl.load(k_ptr + place, mask=key[:, None] < length, other=0.0)
        v = tl.load(v_ptr + place, mask=key[:, None] < length, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(key[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        fade = tl.exp(top - higher)
        shares = tl.exp(scores - higher[:, None])
        total = total * fade + tl.sum(shares, axis=1)
        sums = tl.dot(shares, v, sums * fade[:, None], input_precision="ieee")
        top = higher
    tl.store(y_ptr + own, sums / total[:, None], mask=query[:, None] < length)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        batch, heads, length, width = q.shape
        y = torch.empty_like(q)
        grid = (triton.cdiv(length, 64), batch * heads)
        attention[grid](q, k, v, y, length, width**-0.5, WIDTH=width, QUERIES=64, KEYS=32, num_warps=4)
        return y
