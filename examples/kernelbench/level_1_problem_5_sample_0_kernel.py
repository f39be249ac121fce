import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

__global__ void scale_vec4_kernel(const float4* __restrict__ a, float4* __restrict__ c, float s, int64_t n4) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride) {
        const float4 v = a[i];
        c[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
    }
}

__global__ void scale_kernel(const float* __restrict__ a, float* __restrict__ c, float s, int64_t first, int64_t n) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] * s;
}

extern "C" void scale(const float* a, float* c, float s, int64_t n, cudaStream_t stream) {
    const bool aligned = (((uintptr_t)a | (uintptr_t)c) & 15) == 0;
    const int64_t n4 = aligned ? n / 4 : 0;
    if (n4 > 0) scale_vec4_kernel<<<132 * 64, 256, 0, stream>>>((const float4*)a, (float4*)c, s, n4);
    if (n > 4 * n4) scale_kernel<<<132 * 64, 256, 0, stream>>>(a, c, s, 4 * n4, n);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, s: float) -> torch.Tensor:
        A = A.contiguous()
        C = torch.empty_like(A)
        lib.scale(A, C, float(s), A.numel())
        return C
