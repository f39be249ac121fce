# entry: built in the first call
# task: relu
# expect: CORRECT
"""The library is compiled when forward runs for the first time, not when the file is loaded."""

import torch

from kernelwright import native

SOURCE = r"""
#include <cstdint>

extern "C" void relu(const float* x, float* y, int64_t count) {
    #pragma omp parallel for
    for (int64_t i = 0; i < count; i++) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
"""


class ModelNew(torch.nn.Module):
    lib = None

    def forward(self, x):
        if self.lib is None:
            self.lib = native.cpp(SOURCE)
        y = torch.empty_like(x)
        self.lib.relu(x, y, x.numel())
        return y
