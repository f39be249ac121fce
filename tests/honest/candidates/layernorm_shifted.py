# entry: one pass about the first element
# task: layernorm
# expect: CORRECT
"""Sum and sum of squares in one pass, both about the first element of the row."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void layernorm(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        const float pivot = a[0];
        double sum = 0.0, squares = 0.0;
        for (int64_t c = 0; c < cols; c++) {
            const double v = a[c] - pivot;
            sum += v;
            squares += v * v;
        }
        const double shift = sum / cols;
        const double variance = squares / cols - shift * shift;
        const float mean = (float)(pivot + shift), scale = (float)(1.0 / std::sqrt(variance + 1e-5));
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = (a[c] - mean) * scale * weight[c] + bias[c];
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        lib.layernorm(x, self.norm.weight, self.norm.bias, y, x.shape[0], x.shape[1])
        return y
