# entry: too small for its launch
# task: relu_tiny
# expect: launch-bound
"""Right and honest, and over before it has begun."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
extern "C" __global__ void plain(const float* x, float* y, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.plain[(x.numel() + 255) // 256, 256](x, y, x.numel())
        return y
