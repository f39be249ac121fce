# entry: bfloat16 in, float32 sums
# task: matmul_bf16
# expect: CORRECT
"""Tensor cores multiply bfloat16 and add in float32; programs walk the tiles in groups of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(
    a_ptr, b_ptr, c_ptr, m, k, n, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr
):
    tile = tl.program_id(0)
    down = tl.cdiv(m, ROWS)
    across = tl.cdiv(n, COLS)
    first = tile // (GROUP * across) * GROUP
    height = tl.minimum(down - first, GROUP)
    within = tile % (GROUP * across)
    row = (first + within % height) * ROWS + tl.arange(0, ROWS)
    col = (within // height) * COLS + tl.arange(0, COLS)
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, k, DEPTH):
        inner = start + tl.arange(0, DEPTH)
        a_mask = (row[:, None] < m) & (inner[None, :] < k)
        b_mask = (inner[:, None] < k) & (col[None, :] < n)
        a = tl.load(a_ptr + row[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + col[None, :], mask=b_mask, other=0.0)
        sums = tl.dot(a, b, sums)
    mask = (row[:, None] < m) & (col[None, :] < n)
    tl.store(c_ptr + row[:, None] * n + col[None, :], sums.to(tl.bfloat16), mask=mask)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty(m, n, dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(m, 128) * triton.cdiv(n, 128),)
        multiply[grid](a, b, c, m, k, n, ROWS=128, COLS=128, DEPTH=64, GROUP=8, num_warps=8, num_stages=3)
        return c
