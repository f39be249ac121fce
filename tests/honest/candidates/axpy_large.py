# entry: four million elements
# task: axpy_large
# expect: CORRECT
"""Limited by memory; the factor is a Python number."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void axpy(const float* x, const float* y, float* out, float alpha, int64_t count) {
    #pragma omp parallel for simd
    for (int64_t i = 0; i < count; i++) out[i] = alpha * x[i] + y[i];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, y, alpha):
        out = torch.empty_like(x)
        lib.axpy(x, y, out, alpha, x.numel())
        return out
