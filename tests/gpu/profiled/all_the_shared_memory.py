# entry: few threads at once
# task: relu
# expect: low-occupancy
"""A block takes nearly all shared memory and has two warps."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
extern "C" __global__ void by_hoarding(const float* x, float* y, int64_t n) {
    extern __shared__ float held[];
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        held[threadIdx.x] = x[i];
        y[i] = fmaxf(held[threadIdx.x], 0);
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.by_hoarding[1320, 64, 200 * 1024](x, y, x.numel())
        return y
