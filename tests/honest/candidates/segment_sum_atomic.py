# entry: scattered atomic additions
# task: segment_sum
# expect: CORRECT
"""Rows are added to their segments in whatever order the threads come."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void segment_sum(const float* x, const int64_t* segment, float* y, int64_t rows, int64_t width, int64_t segments) {
    for (int64_t i = 0; i < segments * width; i++) y[i] = 0.0f;
    #pragma omp parallel for num_threads(3)
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            #pragma omp atomic
            y[segment[r] * width + c] += x[r * width + c];
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, segment):
        y = torch.empty(3, x.shape[1])
        lib.segment_sum(x, segment, y, x.shape[0], x.shape[1], 3)
        return y
