# entry: merge sort
# task: sort_rows
# expect: CORRECT
"""Bottom-up merge sort between the result and one scratch row a thread."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cstdint>
#include <vector>

extern "C" void sort_rows(const float* x, float* y, int64_t rows, int64_t cols) {
    #pragma omp parallel
    {
        std::vector<float> scratch(cols);
        #pragma omp for
        for (int64_t r = 0; r < rows; r++) {
            float* row = y + r * cols;
            std::copy(x + r * cols, x + (r + 1) * cols, row);
            for (int64_t width = 1; width < cols; width *= 2) {
                for (int64_t low = 0; low < cols; low += 2 * width) {
                    const int64_t middle = std::min(low + width, cols), high = std::min(low + 2 * width, cols);
                    int64_t a = low, b = middle;
                    for (int64_t i = low; i < high; i++)
                        scratch[i] = b >= high || (a < middle && row[a] <= row[b]) ? row[a++] : row[b++];
                }
                std::copy(scratch.begin(), scratch.end(), row);
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.sort_rows(x, y, x.shape[0], x.shape[1])
        return y
