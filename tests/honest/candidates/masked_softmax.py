# entry: bool mask
# task: masked_softmax
# expect: CORRECT
"""Elements that are masked out get no share; a row without any left is shared out evenly."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void masked_softmax(const float* scores, const bool* keep, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float* a = scores + r * cols;
        const bool* k = keep + r * cols;
        float top = -1e30f;
        for (int64_t c = 0; c < cols; c++)
            if (k[c] && a[c] > top) top = a[c];
        float total = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            const float e = std::exp((k[c] ? a[c] : -1e30f) - top);
            y[r * cols + c] = e;
            total += e;
        }
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] /= total;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, scores, keep):
        y = torch.empty_like(scores)
        lib.masked_softmax(scores, keep, y, scores.shape[0], scores.shape[1])
        return y
