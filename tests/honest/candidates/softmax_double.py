# entry: softmax in double
# task: softmax
# expect: CORRECT
"""Everything in double precision, rounded once at the end."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        double top = x[r * cols];
        for (int64_t c = 1; c < cols; c++) top = std::fmax(top, x[r * cols + c]);
        double total = 0.0;
        for (int64_t c = 0; c < cols; c++) total += std::exp((double)x[r * cols + c] - top);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)(std::exp((double)x[r * cols + c] - top) / total);
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
