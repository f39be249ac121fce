# entry: two passes
# task: layernorm
# expect: CORRECT
"""First the mean, then the squares about it."""

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
        float* b = y + r * cols;
        float sum = 0.0f;
        #pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < cols; c++) sum += a[c];
        const float mean = sum / cols;
        float squares = 0.0f;
        #pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < cols; c++) {
            b[c] = a[c] - mean;
            squares += b[c] * b[c];
        }
        const float scale = 1.0f / std::sqrt(squares / cols + 1e-5f);
        for (int64_t c = 0; c < cols; c++) b[c] = b[c] * scale * weight[c] + bias[c];
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
