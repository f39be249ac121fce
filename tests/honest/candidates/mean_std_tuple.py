# entry: two outputs
# task: mean_std
# expect: CORRECT
"""Mean and corrected standard deviation, two tensors in a tuple."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void mean_std(const float* x, float* mean, float* deviation, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c];
        const float middle = sum / cols;
        float squares = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            const float gap = x[r * cols + c] - middle;
            squares += gap * gap;
        }
        mean[r] = middle;
        deviation[r] = std::sqrt(squares / (cols - 1));
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        mean, deviation = torch.empty(x.shape[0]), torch.empty(x.shape[0])
        lib.mean_std(x, mean, deviation, x.shape[0], x.shape[1])
        return mean, deviation
