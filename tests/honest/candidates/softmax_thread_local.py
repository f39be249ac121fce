# entry: thread-local scratch
# task: softmax
# expect: CORRECT
"""Each thread keeps a scratch row of its own that lives on between calls."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>
#include <vector>

static thread_local std::vector<float> scratch;

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        if ((int64_t)scratch.size() < cols) scratch.resize(cols);
        float top = -INFINITY;
        for (int64_t c = 0; c < cols; c++) {
            scratch[c] = x[r * cols + c];
            if (scratch[c] > top) top = scratch[c];
        }
        float total = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            scratch[c] = std::exp(scratch[c] - top);
            total += scratch[c];
        }
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = scratch[c] / total;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
