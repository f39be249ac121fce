# entry: average pooling
# task: avg_pool
# expect: CORRECT
"""Sums five neighbours at every third place."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void avg_pool(const float* x, float* y, int64_t planes, int64_t length, int64_t out) {
    #pragma omp parallel for
    for (int64_t p = 0; p < planes; p++) {
        for (int64_t i = 0; i < out; i++) {
            float total = 0.0f;
            for (int64_t k = 0; k < 5; k++) total += x[p * length + 3 * i + k];
            y[p * out + i] = total * 0.2f;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        batch, channels, length = x.shape
        out = (length - 5) // 3 + 1
        y = torch.empty(batch, channels, out)
        lib.avg_pool(x, y, batch * channels, length, out)
        return y
