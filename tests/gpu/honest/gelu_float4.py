# entry: four floats at a time
# task: gelu
# expect: CORRECT
"""Loads and stores float4 where addresses allow it, and the rest one by one."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f)); }

__global__ void by_fours(const float4* __restrict__ x, float4* __restrict__ y, int64_t quads) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += step) {
        const float4 v = x[i];
        y[i] = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
    }
}

__global__ void one_by_one(const float* __restrict__ x, float* __restrict__ y, int64_t first, int64_t count) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) y[i] = gelu(x[i]);
}

static int blocks(int64_t work) {
    const int64_t wanted = (work + 255) / 256;
    return (int)(wanted < 65536 ? wanted : 65536);
}

extern "C" void gelu_all(const float* x, float* y, int64_t count, cudaStream_t stream) {
    const bool aligned = (((uintptr_t)x | (uintptr_t)y) & 15) == 0;
    const int64_t quads = aligned ? count / 4 : 0;
    const int64_t rest = count - 4 * quads;
    if (quads > 0) by_fours<<<blocks(quads), 256, 0, stream>>>((const float4*)x, (float4*)y, quads);
    if (rest > 0) one_by_one<<<blocks(rest), 256, 0, stream>>>(x, y, 4 * quads, count);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.gelu_all(x, y, x.numel())
        return y
