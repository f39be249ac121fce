# entry: pairwise summation
# task: row_sum
# expect: CORRECT
"""Halves the row again and again."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

static float sum(const float* x, int64_t count) {
    if (count <= 16) {
        float total = 0.0f;
        for (int64_t i = 0; i < count; i++) total += x[i];
        return total;
    }
    const int64_t half = count / 2;
    return sum(x, half) + sum(x + half, count - half);
}

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) y[r] = sum(x + r * cols, cols);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
