# entry: split-K with a second kernel
# task: matmul_deep
# expect: CORRECT
"""A long inner dimension is shared by sixteen programs a tile; a second kernel adds what they found."""

import torch
import triton
import triton.language as tl

SPLITS = 16


@triton.jit
def multiply_parts(
    a_ptr, b_ptr, parts_ptr, m, k, n, share, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    split = tl.program_id(2)
    first = split * share
    last = tl.minimum(first + share, k)
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(first, last, DEPTH):
        inner = start + tl.arange(0, DEPTH)
        a_mask = (row[:, None] < m) & (inner[None, :] < last)
        b_mask = (inner[:, None] < last) & (col[None, :] < n)
        a = tl.load(a_ptr + row[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + col[None, :], mask=b_mask, other=0.0)
        sums = tl.dot(a, b, sums, input_precision="ieee")
    place = split * m * n + row[:, None] * n + col[None, :]
    tl.store(parts_ptr + place, sums, mask=(row[:, None] < m) & (col[None, :] < n))


@triton.jit
def add_parts(parts_ptr, c_ptr, size, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    sums = tl.zeros((BLOCK,), tl.float32)
    for split in range(SPLITS):
        sums += tl.load(parts_ptr + split * size + at, mask=inside, other=0.0)
    tl.store(c_ptr + at, sums, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        parts = torch.empty(SPLITS, m, n, device=a.device)
        c = torch.empty(m, n, device=a.device)
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64), SPLITS)
        share = triton.cdiv(k, SPLITS)
        multiply_parts[grid](a, b, parts, m, k, n, share, ROWS=64, COLS=64, DEPTH=16, num_warps=4)
        add_parts[(triton.cdiv(m * n, 1024),)](parts, c, m * n, SPLITS=SPLITS, BLOCK=1024)
        return c
