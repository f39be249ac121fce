# entry: strides passed to the kernel
# task: strided_add
# expect: CORRECT
"""Addresses and strides go to the kernel as numbers; nothing is copied."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void add(const void* a, const void* b, float* y, int64_t rows, int64_t cols, int64_t a0, int64_t a1, int64_t b0, int64_t b1) {
    const float* p = static_cast<const float*>(a);
    const float* q = static_cast<const float*>(b);
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = 2.0f * p[r * a0 + c * a1] + q[r * b0 + c * b1];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        y = torch.empty(a.shape)
        lib.add(a.data_ptr(), b.data_ptr(), y, *a.shape, *a.stride(), *b.stride())
        return y
