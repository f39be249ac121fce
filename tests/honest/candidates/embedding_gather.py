# entry: gather with int64 ids
# task: embedding
# expect: CORRECT
"""Copies one row of the table for each id."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <cstring>

extern "C" void gather(const float* table, const int64_t* ids, float* y, int64_t count, int64_t width) {
    #pragma omp parallel for
    for (int64_t i = 0; i < count; i++) std::memcpy(y + i * width, table + ids[i] * width, width * sizeof(float));
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = torch.nn.Embedding(words, width)

    def forward(self, ids):
        width = self.table.weight.shape[1]
        y = torch.empty(*ids.shape, width)
        lib.gather(self.table.weight, ids, y, ids.numel(), width)
        return y
