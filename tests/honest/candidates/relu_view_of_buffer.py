# entry: result is a view of a larger buffer
# task: relu
# expect: CORRECT
"""Rows padded to a multiple of sixteen: the result is a strided view of a buffer that it allocates anew."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void relu(const float* x, float* y, int64_t rows, int64_t cols, int64_t pitch) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++) {
            const float v = x[r * cols + c];
            y[r * pitch + c] = v < 0.0f ? 0.0f : v;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        pitch = (cols + 15) // 16 * 16
        buffer = torch.empty(rows, pitch)
        lib.relu(x, buffer, rows, cols, pitch)
        return buffer[:, :cols]
