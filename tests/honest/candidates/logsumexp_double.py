# entry: double precision
# task: logsumexp_double
# expect: CORRECT
"""A task in float64, in float64."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void logsumexp(const double* x, double* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const double* a = x + r * cols;
        double top = a[0];
        for (int64_t c = 1; c < cols; c++) top = a[c] > top ? a[c] : top;
        double total = 0.0;
        for (int64_t c = 0; c < cols; c++) total += std::exp(a[c] - top);
        y[r] = top + std::log(total);
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=x.dtype)
        lib.logsumexp(x, y, x.shape[0], x.shape[1])
        return y
