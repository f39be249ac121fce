# entry: torch as cheap glue
# task: row_sum
# expect: CORRECT
"""Two halves of the rows, summed by two calls; torch cuts the input and puts the two small results together."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float total = 0.0f;
        #pragma omp simd reduction(+ : total)
        for (int64_t c = 0; c < cols; c++) total += x[r * cols + c];
        y[r] = total;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        half = x.shape[0] // 2
        parts = []
        for piece in (x[:half], x[half:]):
            y = torch.empty(piece.shape[0])
            lib.row_sum(piece, y, *piece.shape)
            parts.append(y.reshape(-1))
        return torch.cat(parts)
