# entry: online softmax
# task: softmax
# expect: CORRECT
"""Largest element and sum in one pass, rescaling the sum whenever the largest grows."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for schedule(dynamic, 8)
    for (int64_t r = 0; r < rows; r++) {
        const float* in = x + r * cols;
        float top = -INFINITY, total = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            const float next = in[c] > top ? in[c] : top;
            total = total * std::exp(top - next) + std::exp(in[c] - next);
            top = next;
        }
        const float scale = 1.0f / total;
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = std::exp(in[c] - top) * scale;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
