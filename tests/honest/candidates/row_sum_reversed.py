# entry: from the last element to the first
# task: row_sum
# expect: CORRECT
"""Walks every row backwards, three interleaved sums."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float first = 0.0f, second = 0.0f, third = 0.0f;
        int64_t c = cols - 1;
        for (; c >= 2; c -= 3) {
            first += a[c];
            second += a[c - 1];
            third += a[c - 2];
        }
        for (; c >= 0; c--) first += a[c];
        y[r] = first + (second + third);
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
