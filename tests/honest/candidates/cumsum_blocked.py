# entry: cumulative sum in blocks
# task: cumsum
# expect: CORRECT
"""Sums of blocks first, then every block from its offset: another order than element by element."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>

extern "C" void cumsum(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t block = 32;
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float before = 0.0f;
        for (int64_t low = 0; low < cols; low += block) {
            const int64_t high = std::min(low + block, cols);
            float running = 0.0f;
            for (int64_t c = low; c < high; c++) {
                running += x[r * cols + c];
                y[r * cols + c] = before + running;
            }
            before += running;
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
