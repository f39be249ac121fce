# entry: neighbouring threads read different rows
# task: relu
# expect: uncoalesced
"""Every thread brings in a sector of 32 bytes and uses 4."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
extern "C" __global__ void by_columns(const float* x, float* y, int64_t rows, int64_t cols) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t at = i % rows * cols + i / rows;
    if (i < rows * cols) y[at] = x[at] > 0 ? x[at] : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.by_columns[(x.numel() + 255) // 256, 256](x, y, *x.shape)
        return y
