# entry: one accumulator
# task: row_sum
# expect: CORRECT
"""One float accumulator from the first element to the last: the least accurate order that people write."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t c = 0; c < cols; c++) total += x[r * cols + c];
        y[r] = total;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
