# entry: tiled transpose
# task: transpose_scale
# expect: CORRECT
"""Square tiles, so that reads and writes both stay in few cache lines."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>

extern "C" void transpose_scale(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t tile = 16;
    #pragma omp parallel for collapse(2)
    for (int64_t r0 = 0; r0 < rows; r0 += tile) {
        for (int64_t c0 = 0; c0 < cols; c0 += tile) {
            for (int64_t r = r0; r < std::min(r0 + tile, rows); r++)
                for (int64_t c = c0; c < std::min(c0 + tile, cols); c++) y[c * rows + r] = 0.5f * x[r * cols + c];
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(cols, rows)
        lib.transpose_scale(x, y, rows, cols)
        return y
