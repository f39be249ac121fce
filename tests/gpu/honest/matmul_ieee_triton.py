# entry: tl.dot without TF32
# task: matmul
# expect: CORRECT
"""Tiles through tl.dot in full float32, asked for by name, since TF32 is what one gets otherwise."""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(a_ptr, b_ptr, c_ptr, m, k, n, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, k, DEPTH):
        inner = start + tl.arange(0, DEPTH)
        a_mask = (row[:, None] < m) & (inner[None, :] < k)
        b_mask = (inner[:, None] < k) & (col[None, :] < n)
        a = tl.load(a_ptr + row[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + col[None, :], mask=b_mask, other=0.0)
        sums = tl.dot(a, b, sums, input_precision="ieee")
    tl.store(c_ptr + row[:, None] * n + col[None, :], sums, mask=(row[:, None] < m) & (col[None, :] < n))


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty(m, n, device=a.device)
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        multiply[grid](a, b, c, m, k, n, ROWS=64, COLS=64, DEPTH=16, num_warps=4)
        return c
