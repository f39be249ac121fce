# entry: max pooling
# task: max_pool
# expect: CORRECT
"""Clips each window to the image before it looks for the largest element."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>

extern "C" void max_pool(const float* x, float* y, int64_t planes, int64_t height, int64_t width, int64_t high, int64_t wide) {
    #pragma omp parallel for
    for (int64_t p = 0; p < planes; p++) {
        for (int64_t i = 0; i < high; i++) {
            for (int64_t j = 0; j < wide; j++) {
                const int64_t top = std::max<int64_t>(2 * i - 1, 0), bottom = std::min(2 * i + 2, height);
                const int64_t left = std::max<int64_t>(2 * j - 1, 0), right = std::min(2 * j + 2, width);
                float best = x[(p * height + top) * width + left];
                for (int64_t r = top; r < bottom; r++)
                    for (int64_t c = left; c < right; c++) best = std::max(best, x[(p * height + r) * width + c]);
                y[(p * high + i) * wide + j] = best;
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        batch, channels, height, width = x.shape
        high, wide = (height - 1) // 2 + 1, (width - 1) // 2 + 1
        y = torch.empty(batch, channels, high, wide)
        lib.max_pool(x, y, batch * channels, height, width, high, wide)
        return y
