# entry: two halves of one input
# task: gated
# expect: CORRECT
"""Gate and value are read from the halves of a row where they lie; nothing is copied first."""

import torch
import triton
import triton.language as tl


@triton.jit
def gated(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < cols
    gate = tl.load(x_ptr + row * 2 * cols + at, mask=inside, other=0.0)
    value = tl.load(x_ptr + row * 2 * cols + cols + at, mask=inside, other=0.0)
    tl.store(y_ptr + row * cols + at, gate / (1.0 + tl.exp(-gate)) * value, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape[0], x.shape[1] // 2
        y = torch.empty(rows, cols, device=x.device)
        gated[(rows, triton.cdiv(cols, 1024))](x, y, cols, BLOCK=1024, num_warps=4)
        return y
