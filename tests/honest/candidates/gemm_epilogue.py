# entry: library product, own epilogue
# task: gemm_epilogue
# expect: CORRECT
"""The task allows the library its matrix product; bias and gate are one pass of its own, in place on the product."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void epilogue(float* y, const float* bias, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++) {
            const float v = y[r * cols + c] + bias[c];
            y[r * cols + c] = v / (1.0f + std::exp(-v));
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(inner, outer))
        self.bias = torch.nn.Parameter(torch.empty(outer))

    @torch.no_grad()
    def forward(self, x):
        y = torch.mm(x, self.weight)
        lib.epilogue(y, self.bias, y.shape[0], y.shape[1])
        return y
