# entry: spills
# task: relu
# expect: spills
"""Sixty-four values a thread, in twenty-four registers."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
extern "C" __global__ void __launch_bounds__(1024, 2)
by_many(const float* x, float* y, int64_t n, int times, float factor, float term) {
    int64_t all = (int64_t)gridDim.x * blockDim.x, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float v[64];
    #pragma unroll
    for (int k = 0; k < 64; k++) v[k] = first + k * all < n ? x[first + k * all] : 0;
    for (int t = 0; t < times; t++)
        #pragma unroll
        for (int k = 0; k < 64; k++) v[k] = v[k] * factor + term;
    #pragma unroll
    for (int k = 0; k < 64; k++) if (first + k * all < n) y[first + k * all] = fmaxf(v[k], 0);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        blocks = (x.numel() + 64 * 1024 - 1) // (64 * 1024)
        lib.by_many[blocks, 1024](x, y, x.numel(), 32, 1.0, 0.0)
        return y
