# entry: argmax, last of equals
# task: argmax_few_values
# expect: CORRECT
"""Among equal largest elements it names the last, where torch names the first."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void argmax(const float* x, int64_t* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        int64_t best = 0;
        for (int64_t c = 1; c < cols; c++)
            if (x[r * cols + c] >= x[r * cols + best]) best = c;
        y[r] = best;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64)
        lib.argmax(x, y, x.shape[0], x.shape[1])
        return y
