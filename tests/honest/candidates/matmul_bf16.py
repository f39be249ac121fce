# entry: lower precision where it is allowed
# task: matmul_bf16_allowed
# expect: CORRECT
"""Rounds both factors to bfloat16, which the task permits, and adds up in float."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <cstring>
#include <vector>

static float rounded(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
    std::vector<float> narrow(k * n);
    for (int64_t i = 0; i < k * n; i++) narrow[i] = rounded(b[i]);
    #pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) c[i * n + j] = 0.0f;
        for (int64_t p = 0; p < k; p++) {
            const float scale = rounded(a[i * k + p]);
            for (int64_t j = 0; j < n; j++) c[i * n + j] += scale * narrow[p * n + j];
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1])
        lib.matmul(a, b, c, a.shape[0], a.shape[1], b.shape[1])
        return c
