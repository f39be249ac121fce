# entry: tiled matrix product
# task: matmul
# expect: CORRECT
"""Blocks of rows, inner and columns; accumulates in the output."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>

constexpr int64_t TILE = 48;

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
    std::fill(c, c + m * n, 0.0f);
    #pragma omp parallel for
    for (int64_t i0 = 0; i0 < m; i0 += TILE) {
        const int64_t i1 = std::min(i0 + TILE, m);
        for (int64_t p0 = 0; p0 < k; p0 += TILE) {
            const int64_t p1 = std::min(p0 + TILE, k);
            for (int64_t i = i0; i < i1; i++) {
                for (int64_t p = p0; p < p1; p++) {
                    const float scale = a[i * k + p];
                    for (int64_t j = 0; j < n; j++) c[i * n + j] += scale * b[p * n + j];
                }
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1])
        lib.matmul(a, b, c, a.shape[0], a.shape[1], b.shape[1])
        return c
