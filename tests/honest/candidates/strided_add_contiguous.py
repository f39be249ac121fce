# entry: made contiguous first
# task: strided_add
# expect: CORRECT
"""Leaves the layout to torch: makes both inputs contiguous, then runs one flat loop."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void add(const float* a, const float* b, float* y, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = std::fma(2.0f, a[i], b[i]);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        y = torch.empty(a.shape)
        lib.add(a.contiguous(), b.contiguous(), y, a.numel())
        return y
