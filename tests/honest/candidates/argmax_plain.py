# entry: argmax
# task: argmax
# expect: CORRECT
"""First of the largest elements of a row."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void argmax(const float* x, int64_t* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float top = a[0];
        int64_t best = 0;
        for (int64_t c = 1; c < cols; c++) {
            if (a[c] > top) {
                top = a[c];
                best = c;
            }
        }
        y[r] = best;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64)
        lib.argmax(x, y, x.shape[0], x.shape[1])
        return y
