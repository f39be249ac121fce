# entry: list of inputs
# task: weighted_list
# expect: CORRECT
"""Adds one part after the other into the result."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void start(const float* part, float* y, float weight, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = weight * part[i];
}

extern "C" void add(const float* part, float* y, float weight, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] += weight * part[i];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, parts, weights):
        y = torch.empty_like(parts[0])
        lib.start(parts[0], y, weights[0], y.numel())
        for part, weight in zip(parts[1:], weights[1:]):
            lib.add(part, y, weight, y.numel())
        return y
