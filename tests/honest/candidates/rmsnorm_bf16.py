# entry: bfloat16
# task: rmsnorm_bf16
# expect: CORRECT
"""Sixteen-bit words widened by a shift and rounded to nearest even by hand."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>
#include <cstring>

static float widen(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float v;
    std::memcpy(&v, &wide, sizeof v);
    return v;
}

static uint16_t narrow(float v) {
    uint32_t wide;
    std::memcpy(&wide, &v, sizeof wide);
    return (uint16_t)((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
}

extern "C" void rmsnorm(const uint16_t* x, const uint16_t* weight, uint16_t* y, int64_t rows, int64_t cols) {
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        float squares = 0.0f;
        for (int64_t c = 0; c < cols; c++) {
            const float v = widen(x[r * cols + c]);
            squares += v * v;
        }
        const float scale = 1.0f / std::sqrt(squares / cols + 1e-5f);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = narrow(widen(x[r * cols + c]) * scale * widen(weight[c]));
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, weight):
        y = torch.empty_like(x)
        lib.rmsnorm(x, weight, y, x.shape[0], x.shape[1])
        return y
