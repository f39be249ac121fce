# entry: scratch rewritten in place
# task: column_norm
# expect: CORRECT
"""Mean and squares of slices lie in scratch memory, which the second kernel turns, in place, into mean and scale."""

import torch
import triton
import triton.language as tl

SLICES = 64


@triton.jit
def slice_moments(x_ptr, scratch_ptr, rows, cols, share, SLICES: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    split = tl.program_id(1)
    first = split * share
    last = tl.minimum(first + share, rows)
    count = tl.maximum(last - first, 1).to(tl.float32)
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(first, last, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < last) & (col[None, :] < cols)
        sums += tl.load(x_ptr + row[:, None].to(tl.int64) * cols + col[None, :], mask=mask, other=0.0)
    mean = tl.sum(sums, axis=0) / count
    squares = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(first, last, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < last) & (col[None, :] < cols)
        x = tl.load(x_ptr + row[:, None].to(tl.int64) * cols + col[None, :], mask=mask, other=0.0)
        gap = tl.where(mask, x - mean[None, :], 0.0)
        squares += gap * gap
    tl.store(scratch_ptr + split * cols + col, mean, mask=col < cols)
    tl.store(scratch_ptr + (SLICES + split) * cols + col, tl.sum(squares, axis=0), mask=col < cols)


@triton.jit
def whole_moments(scratch_ptr, rows, cols, share, eps, SLICES: tl.constexpr, COLS: tl.constexpr):
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    split = tl.arange(0, SLICES)
    count = tl.minimum(tl.maximum(rows - split * share, 0), share).to(tl.float32)[:, None]
    place = split[:, None] * cols + col[None, :]
    mask = (col[None, :] < cols) & (split[:, None] < SLICES)
    means = tl.load(scratch_ptr + place, mask=mask, other=0.0)
    squares = tl.load(scratch_ptr + SLICES * cols + place, mask=mask, other=0.0)
    mean = tl.sum(means * count, axis=0) / rows
    gap = means - mean[None, :]
    variance = tl.sum(squares + gap * gap * count, axis=0) / rows
    tl.debug_barrier()
    tl.store(scratch_ptr + col, mean, mask=col < cols)
    tl.store(scratch_ptr + SLICES * cols + col, 1.0 / tl.sqrt(variance + eps), mask=col < cols)


@triton.jit
def normalise(x_ptr, scratch_ptr, y_ptr, cols, SLICES: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = col < cols
    mean = tl.load(scratch_ptr + col, mask=inside, other=0.0)
    scale = tl.load(scratch_ptr + SLICES * cols + col, mask=inside, other=0.0)
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0.0)
    tl.store(y_ptr + row * cols + col, (x - mean) * scale, mask=inside)


class ModelNew(torch.nn.Module):
    scratch = None

    def forward(self, x):
        rows, cols = x.shape
        if self.scratch is None or self.scratch.numel() < 2 * SLICES * cols:
            self.scratch = torch.empty(2 * SLICES * cols, device=x.device)
        y = torch.empty_like(x)
        share = triton.cdiv(rows, SLICES)
        across = triton.cdiv(cols, 64)
        slice_moments[(across, SLICES)](x, self.scratch, rows, cols, share, SLICES=SLICES, ROWS=16, COLS=64)
        whole_moments[(across,)](self.scratch, rows, cols, share, 1e-5, SLICES=SLICES, COLS=64)
        normalise[(rows, triton.cdiv(cols, 1024))](x, self.scratch, y, cols, SLICES=SLICES, BLOCK=1024)
        return y
