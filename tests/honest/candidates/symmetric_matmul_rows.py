# entry: symmetric product
# task: symmetric_matmul
# expect: CORRECT
"""Reads rows of b as its columns, which a symmetric matrix allows."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void symmetric_matmul(const float* a, const float* b, float* c, int64_t n) {
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            float total = 0.0f;
            #pragma omp simd reduction(+ : total)
            for (int64_t p = 0; p < n; p++) total += a[i * n + p] * b[j * n + p];
            c[i * n + j] = total;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty_like(a)
        lib.symmetric_matmul(a, b, c, a.shape[0])
        return c
