# entry: eight elements
# task: eight_elements
# expect: CORRECT
"""So little work that the call costs more than the kernel."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void multiply_add(const float* x, const float* y, float* out, int64_t count) {
    for (int64_t i = 0; i < count; i++) out[i] = x[i] * y[i] + 1.0f;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        lib.multiply_add(x, y, out, x.numel())
        return out
