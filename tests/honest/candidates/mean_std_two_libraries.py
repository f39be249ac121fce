# entry: two libraries
# task: mean_std
# expect: CORRECT
"""Two sources, two libraries: the second works on what the first has found."""

import torch

from kernelwright import native

means = native.cpp(
    r"""
#include <cstdint>

extern "C" void mean(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        double total = 0.0;
        for (int64_t c = 0; c < cols; c++) total += x[r * cols + c];
        y[r] = (float)(total / cols);
    }
}
"""
)
deviations = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void deviation(const float* x, const float* mean, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) {
        double squares = 0.0;
        for (int64_t c = 0; c < cols; c++) {
            const double gap = x[r * cols + c] - mean[r];
            squares += gap * gap;
        }
        y[r] = (float)std::sqrt(squares / (cols - 1));
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        mean, deviation = torch.empty(x.shape[0]), torch.empty(x.shape[0])
        means.mean(x, mean, *x.shape)
        deviations.deviation(x, mean, deviation, *x.shape)
        return mean, deviation
