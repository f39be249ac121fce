# entry: top k by partial sort
# task: topk
# expect: CORRECT
"""Sorts indices by value with the standard library; values and indices are two outputs."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

extern "C" void topk(const float* x, float* values, int64_t* indices, int64_t rows, int64_t cols, int64_t k) {
    #pragma omp parallel
    {
        std::vector<int64_t> order(cols);
        #pragma omp for
        for (int64_t r = 0; r < rows; r++) {
            const float* row = x + r * cols;
            std::iota(order.begin(), order.end(), 0);
            std::partial_sort(order.begin(), order.begin() + k, order.end(),
                              [row](int64_t a, int64_t b) { return row[a] > row[b]; });
            for (int64_t i = 0; i < k; i++) {
                values[r * k + i] = row[order[i]];
                indices[r * k + i] = order[i];
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        values, indices = torch.empty(rows, 5), torch.empty(rows, 5, dtype=torch.int64)
        lib.topk(x, values, indices, rows, cols, 5)
        return values, indices
