import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def max_kernel(x_ptr, y_ptr, length, inner, ROWS: tl.constexpr, COLS: tl.constexpr):
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    outer = tl.program_id(1).to(tl.int64)
    base = x_ptr + outer * length * inner
    acc = tl.full((ROWS, COLS), -float("inf"), tl.float32)
    for start in range(0, length, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < length) & (col[None, :] < inner)
        x = tl.load(base + row[:, None].to(tl.int64) * inner + col[None, :], mask=mask, other=-float("inf"))
        acc = tl.maximum(acc, x)
    tl.store(y_ptr + outer * inner + col, tl.max(acc, axis=0), mask=col < inner)


class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        dim = self.dim % x.dim()
        before, length, after = x.shape[:dim], x.shape[dim], x.shape[dim + 1 :]
        outer, inner = before.numel(), after.numel()
        y = torch.empty(*before, *after, device=x.device, dtype=x.dtype)
        max_kernel[(triton.cdiv(inner, 128), outer)](x, y, length, inner, ROWS=16, COLS=128, num_warps=4)
        return y
