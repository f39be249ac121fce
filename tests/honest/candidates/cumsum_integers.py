# entry: integer output
# task: cumsum_integers
# expect: CORRECT
"""Exact, whatever the order."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void cumsum(const int64_t* x, int64_t* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        int64_t total = 0;
        for (int64_t c = 0; c < cols; c++) {
            total += x[r * cols + c];
            y[r * cols + c] = total;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.cumsum(x, y, x.shape[0], x.shape[1])
        return y
