# entry: relu in place on a copy
# task: relu
# expect: CORRECT
"""Copies the input into memory of its own, then works there in place."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <cstring>

extern "C" void copy(const float* from, float* to, int64_t count) {
    std::memcpy(to, from, count * sizeof(float));
}

extern "C" void relu_in_place(float* x, int64_t count) {
    #pragma omp parallel for simd
    for (int64_t i = 0; i < count; i++) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.copy(x, y, x.numel())
        lib.relu_in_place(y, y.numel())
        return y
