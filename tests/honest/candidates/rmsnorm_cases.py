# entry: three cases
# task: rmsnorm_cases
# expect: CORRECT
"""One row at a time, also where there is only one row."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void rmsnorm(const float* x, const float* weight, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for if (rows > 8)
    for (int64_t r = 0; r < rows; r++) {
        float squares = 0.0f;
        for (int64_t c = 0; c < cols; c++) squares += x[r * cols + c] * x[r * cols + c];
        const float scale = 1.0f / std::sqrt(squares / cols + 1e-6f);
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * scale * weight[c];
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(features))

    def forward(self, x):
        y = torch.empty_like(x)
        lib.rmsnorm(x, self.weight, y, x.shape[0], x.shape[1])
        return y
