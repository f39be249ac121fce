# entry: atomic additions
# task: row_sum
# expect: CORRECT
"""Threads share every row by columns and add their parts atomically: the order differs from run to run."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <omp.h>

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; r++) y[r] = 0.0f;
    #pragma omp parallel num_threads(4)
    {
        const int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
        const int64_t first = cols * me / team, last = cols * (me + 1) / team;
        for (int64_t r = 0; r < rows; r++) {
            float part = 0.0f;
            for (int64_t c = first; c < last; c++) part += x[r * cols + c];
            #pragma omp atomic
            y[r] += part;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
