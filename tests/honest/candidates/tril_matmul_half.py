# entry: triangular product, only the triangle read
# task: tril_matmul
# expect: CORRECT
"""Never looks above the diagonal, where the task has zeros."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void tril_matmul(const float* a, const float* b, float* c, int64_t n, int64_t k) {
    #pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i++) {
        float* out = c + i * k;
        for (int64_t j = 0; j < k; j++) out[j] = 0.0f;
        for (int64_t p = 0; p <= i; p++) {
            const float scale = a[i * n + p];
            for (int64_t j = 0; j < k; j++) out[j] += scale * b[p * k + j];
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, lower, b):
        n, k = b.shape
        c = torch.empty(n, k)
        lib.tril_matmul(lower, b, c, n, k)
        return c
