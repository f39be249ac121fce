# entry: a row a program
# task: softmax
# expect: CORRECT
"""The whole row is one block of a program; the mask hides what lies behind its end."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    x = tl.load(x_ptr + row * cols + at, mask=inside, other=-float("inf"))
    raised = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + at, raised / tl.sum(raised, axis=0), mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty_like(x)
        softmax_rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)
        return y
