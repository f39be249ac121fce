import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

__device__ __forceinline__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

__global__ void relu_vec4_kernel(const float4* __restrict__ x, float4* __restrict__ y, int64_t n4) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride) {
        const float4 v = x[i];
        y[i] = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
    }
}

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t first, int64_t n) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = relu(x[i]);
}

extern "C" void relu_all(const float* x, float* y, int64_t n, cudaStream_t stream) {
    const bool aligned = (((uintptr_t)x | (uintptr_t)y) & 15) == 0;
    const int64_t n4 = aligned ? n / 4 : 0;
    if (n4 > 0) relu_vec4_kernel<<<132 * 64, 256, 0, stream>>>((const float4*)x, (float4*)y, n4);
    if (n > 4 * n4) relu_kernel<<<132 * 64, 256, 0, stream>>>(x, y, 4 * n4, n);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        lib.relu_all(x, y, x.numel())
        return y
