# entry: library where it is allowed
# task: library_allowed
# expect: CORRECT
"""Most of the time is spent in torch, which this task permits; the end is its own."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void relu_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        float total = 0.0f;
        for (int64_t c = 0; c < cols; c++) total += x[r * cols + c] > 0.0f ? x[r * cols + c] : 0.0f;
        y[r] = total;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        product = torch.bmm(a, b)
        y = torch.empty(product.shape[:2])
        lib.relu_sum(product, y, y.numel(), product.shape[2])
        return y
