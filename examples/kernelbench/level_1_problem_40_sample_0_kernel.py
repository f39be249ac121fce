import torch
import torch.nn as nn
import triton
import triton.language as tl

CHUNK = 8192


@triton.jit
def chunk_moments_kernel(x_ptr, means_ptr, squares_ptr, size, chunks, CHUNK: tl.constexpr):
    chunk = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    at = chunk * CHUNK + tl.arange(0, CHUNK)
    inside = at < size
    x = tl.load(x_ptr + row * size + at, mask=inside, other=0.0)
    count = tl.minimum(size - chunk * CHUNK, CHUNK).to(tl.float32)
    mean = tl.sum(x, axis=0) / count
    gap = tl.where(inside, x - mean, 0.0)
    tl.store(means_ptr + row * chunks + chunk, mean)
    tl.store(squares_ptr + row * chunks + chunk, tl.sum(gap * gap, axis=0))


@triton.jit
def row_moments_kernel(
    means_ptr, squares_ptr, mean_ptr, rstd_ptr, size, chunks, eps, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    chunk = tl.arange(0, BLOCK)
    inside = chunk < chunks
    count = tl.where(inside, tl.minimum(size - chunk * CHUNK, CHUNK), 0).to(tl.float32)
    means = tl.load(means_ptr + row * chunks + chunk, mask=inside, other=0.0)
    squares = tl.load(squares_ptr + row * chunks + chunk, mask=inside, other=0.0)
    mean = tl.sum(means * count, axis=0) / size
    gap = means - mean
    variance = tl.sum(squares + gap * gap * count, axis=0) / size
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, 1.0 / tl.sqrt(variance + eps))


@triton.jit
def normalise_kernel(x_ptr, mean_ptr, rstd_ptr, weight_ptr, bias_ptr, y_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(1).to(tl.int64)
    inside = at < size
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    x = tl.load(x_ptr + row * size + at, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + row * size + at, (x - mean) * rstd * weight + bias, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape: tuple):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        weight, bias = self.ln.weight, self.ln.bias
        size = weight.numel()
        rows = x.numel() // size
        chunks = triton.cdiv(size, CHUNK)
        means = torch.empty(rows, chunks, device=x.device)
        squares = torch.empty(rows, chunks, device=x.device)
        mean, rstd = torch.empty(rows, device=x.device), torch.empty(rows, device=x.device)
        y = torch.empty_like(x)
        chunk_moments_kernel[(chunks, rows)](x, means, squares, size, chunks, CHUNK=CHUNK, num_warps=8)
        row_moments_kernel[(rows,)](
            means, squares, mean, rstd, size, chunks, self.ln.eps, CHUNK=CHUNK, BLOCK=triton.next_power_of_2(chunks)
        )
        normalise_kernel[(triton.cdiv(size, 2048), rows)](x, mean, rstd, weight, bias, y, size, BLOCK=2048, num_warps=4)
        return y
