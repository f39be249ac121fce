# entry: Welford
# task: layernorm
# expect: CORRECT
"""Mean and variance in one pass by Welford's recurrence."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void layernorm(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float mean = 0.0f, spread = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            const float v = x[r * cols + c], gap = v - mean;
            mean += gap / (float)(c + 1);
            spread += gap * (v - mean);
        }
        const float scale = 1.0f / std::sqrt(spread / cols + 1e-5f);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (x[r * cols + c] - mean) * scale * weight[c] + bias[c];
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
