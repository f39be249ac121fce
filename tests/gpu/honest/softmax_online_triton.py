# entry: online softmax
# task: softmax_wide
# expect: CORRECT
"""Rows too wide for one block: the sum is rescaled as the maximum grows, then a second pass writes."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_online(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * cols
    y_row = y_ptr + row * cols
    top = -float("inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=-float("inf"))
        tl.store(y_row + at, tl.exp(x - top) / total, mask=at < cols)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty_like(x)
        softmax_online[(rows,)](x, y, cols, BLOCK=4096, num_warps=8)
        return y
