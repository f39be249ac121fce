# entry: tl.atomic_add on cleared memory
# task: row_sum
# expect: CORRECT
"""Four programs a row add their parts to a result that was filled with zeros."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_chunk(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(x, axis=0))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.zeros(rows, device=x.device)
        add_chunk[(rows, triton.cdiv(cols, 4096))](x, y, cols, BLOCK=4096, num_warps=4)
        return y
