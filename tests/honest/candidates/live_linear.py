# entry: weights that change
# task: live_linear
# expect: CORRECT
"""Packs the weight anew at every call, because this task may change it between two."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void pack(const float* w, float* packed, int64_t inner, int64_t outer) {
    for (int64_t j = 0; j < outer; j++)
        for (int64_t p = 0; p < inner; p++) packed[p * outer + j] = w[j * inner + p];
}

extern "C" void linear_relu(const float* x, const float* packed, const float* bias, float* y, int64_t batch, int64_t inner, int64_t outer) {
    #pragma omp parallel for
    for (int64_t i = 0; i < batch; i++) {
        float* out = y + i * outer;
        for (int64_t j = 0; j < outer; j++) out[j] = bias[j];
        for (int64_t p = 0; p < inner; p++)
            for (int64_t j = 0; j < outer; j++) out[j] += x[i * inner + p] * packed[p * outer + j];
        for (int64_t j = 0; j < outer; j++) out[j] = out[j] > 0.0f ? out[j] : 0.0f;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)
        self.packed = None

    def forward(self, x):
        weight, bias = self.linear.weight, self.linear.bias
        outer, inner = weight.shape
        if self.packed is None:
            self.packed = torch.empty(inner * outer)
        lib.pack(weight, self.packed, inner, outer)
        y = torch.empty(x.shape[0], outer)
        lib.linear_relu(x, self.packed, bias, y, x.shape[0], inner, outer)
        return y
