# entry: workspace kept on the module
# task: matmul
# expect: CORRECT
"""Transposes b into a workspace that is kept between calls and grows on demand."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void transpose(const float* b, float* t, int64_t k, int64_t n) {
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++) t[j * k + p] = b[p * n + j];
}

extern "C" void matmul(const float* a, const float* t, float* c, int64_t m, int64_t k, int64_t n) {
    #pragma omp parallel for collapse(2)
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            float total = 0.0f;
            #pragma omp simd reduction(+ : total)
            for (int64_t p = 0; p < k; p++) total += a[i * k + p] * t[j * k + p];
            c[i * n + j] = total;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    workspace = None

    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        if self.workspace is None or self.workspace.numel() < k * n:
            self.workspace = torch.empty(k * n)
        lib.transpose(b, self.workspace, k, n)
        c = torch.empty(m, n)
        lib.matmul(a, self.workspace, c, m, k, n)
        return c
