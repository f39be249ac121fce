# entry: autotuned
# task: layernorm
# expect: CORRECT
"""Three settings, the fastest of which is found at the first call and kept; mean first, then variance, then the row."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 512}, num_warps=4),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ],
    key=["cols"],
)
@triton.jit
def layernorm(x_ptr, weight_ptr, bias_ptr, y_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * cols
    y_row = y_ptr + row * cols
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x_row + at, mask=at < cols, other=0.0)
    mean = tl.sum(sums, axis=0) / cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=0.0)
        gap = tl.where(at < cols, x - mean, 0.0)
        squares += gap * gap
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        x = tl.load(x_row + at, mask=inside, other=0.0)
        weight = tl.load(weight_ptr + at, mask=inside, other=0.0)
        bias = tl.load(bias_ptr + at, mask=inside, other=0.0)
        tl.store(y_row + at, (x - mean) * scale * weight + bias, mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty_like(x)
        layernorm[(rows,)](x, self.norm.weight, self.norm.bias, y, cols, self.norm.eps)
        return y
