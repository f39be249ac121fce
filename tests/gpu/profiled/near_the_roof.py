# entry: float4
# task: relu
# expect: memory-near-roof
"""Sixteen bytes a thread, one after the other."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
__device__ float relu(float x) { return x > 0 ? x : 0; }
extern "C" __global__ void by_fours(const float* x, float* y, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = ((const float4*)x)[i];
    ((float4*)y)[i] = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel() // 4
        lib.by_fours[(n + 255) // 256, 256](x, y, n)
        return y
