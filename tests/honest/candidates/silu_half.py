# entry: float16
# task: silu_half
# expect: CORRECT
"""Computes in float, rounds to half once, where the reference rounds twice."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void silu(const _Float16* x, const _Float16* gate, _Float16* y, int64_t count) {
    #pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const float v = (float)x[i];
        y[i] = (_Float16)(v / (1.0f + std::exp(-v)) * (float)gate[i]);
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, gate):
        y = torch.empty_like(x)
        lib.silu(x, gate, y, x.numel())
        return y
