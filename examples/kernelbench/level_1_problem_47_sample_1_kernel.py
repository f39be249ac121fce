import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

constexpr int PARTS = 8;

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t outer, int64_t length,
                           int64_t inner) {
    const int64_t place = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= outer * inner) return;
    const float* column = x + place / inner * length * inner + place % inner;
    float parts[PARTS] = {};
    int64_t i = 0;
    for (; i + PARTS <= length; i += PARTS) {
        #pragma unroll
        for (int p = 0; p < PARTS; p++) parts[p] += column[(i + p) * inner];
    }
    for (; i < length; i++) parts[0] += column[i * inner];
    y[place] = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

extern "C" void sum_along(const float* x, float* y, int64_t outer, int64_t length, int64_t inner, cudaStream_t stream) {
    const int threads = 128;
    sum_kernel<<<(unsigned)((outer * inner + threads - 1) / threads), threads, 0, stream>>>(x, y, outer, length, inner);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        dim = self.dim % x.dim()
        before, length, after = x.shape[:dim], x.shape[dim], x.shape[dim + 1 :]
        y = torch.empty(*before, 1, *after, device=x.device, dtype=x.dtype)
        lib.sum_along(x, y, before.numel(), length, after.numel())
        return y
