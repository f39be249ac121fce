import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

__device__ __forceinline__ float gelu(float v) {
    return v * 0.5f * (1.0f + erff(v * 0.70710678118654752f));
}

__global__ void gelu_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t n) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = gelu(x[i]);
}

extern "C" void gelu_all(const float* x, float* y, int64_t n, cudaStream_t stream) {
    const int threads = 256;
    const int64_t blocks = (n + threads - 1) / threads;
    gelu_kernel<<<(unsigned)(blocks < 132 * 256 ? blocks : 132 * 256), threads, 0, stream>>>(x, y, n);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        lib.gelu_all(x, y, x.numel())
        return y
