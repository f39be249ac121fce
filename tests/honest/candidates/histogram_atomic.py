# entry: atomic counters
# task: histogram
# expect: CORRECT
"""All threads count into the same bins."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void histogram(const int64_t* x, int64_t* bins, int64_t count, int64_t kinds) {
    for (int64_t b = 0; b < kinds; b++) bins[b] = 0;
    #pragma omp parallel for num_threads(4)
    for (int64_t i = 0; i < count; i++) {
        #pragma omp atomic
        bins[x[i]] += 1;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        bins = torch.empty(4, dtype=torch.int64)
        lib.histogram(x, bins, x.numel(), 4)
        return bins
