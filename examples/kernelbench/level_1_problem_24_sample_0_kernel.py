import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * cols
    y_row = y_ptr + row * cols
    m = -float("inf")
    d = 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    log_d = tl.log(d)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < cols, other=0.0)
        tl.store(y_row + at, (x - m) - log_d, mask=at < cols)


class ModelNew(nn.Module):
    def __init__(self, dim: int = 1):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows_last = x.movedim(self.dim, -1).contiguous()
        y = torch.empty_like(rows_last)
        cols = rows_last.shape[-1]
        log_softmax_kernel[(rows_last.numel() // cols,)](rows_last, y, cols, BLOCK=4096, num_warps=8)
        return y.movedim(-1, self.dim)
