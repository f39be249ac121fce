# entry: transposed view of an own result
# task: transpose_scale
# expect: CORRECT
"""Scales in the order of the input and returns the transposed view: same values, other strides."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void scale(const float* x, float* y, int64_t count) {
    #pragma omp parallel for simd
    for (int64_t i = 0; i < count; i++) y[i] = 0.5f * x[i];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.scale(x, y, x.numel())
        return y.t()
