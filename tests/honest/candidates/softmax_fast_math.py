# entry: softmax with -ffast-math
# task: softmax
# expect: CORRECT
"""Lets the compiler reorder the sums and take its own exponential."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float* b = y + r * cols;
        float top = a[0];
        for (int64_t c = 1; c < cols; c++) top = std::fmax(top, a[c]);
        float total = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            b[c] = std::exp(a[c] - top);
            total += b[c];
        }
        for (int64_t c = 0; c < cols; c++) b[c] = b[c] / total;
    }
}
""",
    ['-ffast-math', '-funroll-loops'],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
