import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * cols
    y_row = y_ptr + row * cols
    carry = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=0.0)
        tl.store(y_row + at, tl.cumsum(x, axis=0) + carry, mask=at < cols)
        carry += tl.sum(x, axis=0)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        rows_last = x.movedim(self.dim, -1).contiguous()
        y = torch.empty_like(rows_last)
        cols = rows_last.shape[-1]
        cumsum_kernel[(rows_last.numel() // cols,)](rows_last, y, cols, BLOCK=2048, num_warps=8)
        return y.movedim(-1, self.dim)
