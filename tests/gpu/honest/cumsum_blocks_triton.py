# entry: scan in blocks
# task: cumsum
# expect: CORRECT
"""Each block of a row is scanned by itself and raised by the sum of the blocks before it."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    before = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
        tl.store(y_ptr + row * cols + at, tl.cumsum(x, axis=0) + before, mask=at < cols)
        before += tl.sum(x, axis=0)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty_like(x)
        cumsum_rows[(rows,)](x, y, cols, BLOCK=1024, num_warps=4)
        return y
