# entry: threads joined within the call
# task: row_sum
# expect: CORRECT
"""Starts threads of its own at every call and joins them before it returns."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <thread>
#include <vector>

static void part(const float* x, float* y, int64_t first, int64_t last, int64_t cols) {
    for (int64_t r = first; r < last; r++) {
        double total = 0.0;
        for (int64_t c = 0; c < cols; c++) total += x[r * cols + c];
        y[r] = (float)total;
    }
}

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t team = 3;
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < team; t++)
        threads.emplace_back(part, x, y, rows * t / team, rows * (t + 1) / team, cols);
    for (auto& thread : threads) thread.join();
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
