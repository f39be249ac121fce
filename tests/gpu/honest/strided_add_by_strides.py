# entry: strides passed to the kernel
# task: strided_add
# expect: CORRECT
"""Addresses and strides go to the kernel as numbers; nothing is copied."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

extern "C" __global__ void add_kernel(const void* a, const void* b, float* y, int rows, int cols, int64_t a0,
                                      int64_t a1, int64_t b0, int64_t b1) {
    const float* p = static_cast<const float*>(a);
    const float* q = static_cast<const float*>(b);
    const int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        const int row = blockIdx.y * 32 + i;
        if (row < rows && col < cols)
            y[(int64_t)row * cols + col] = 2.0f * p[row * a0 + col * a1] + q[row * b0 + col * b1];
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        rows, cols = a.shape
        y = torch.empty(rows, cols, device=a.device)
        grid = ((cols + 31) // 32, (rows + 31) // 32)
        lib.add_kernel[grid, (32, 8)](a.data_ptr(), b.data_ptr(), y, rows, cols, *a.stride(), *b.stride())
        return y
