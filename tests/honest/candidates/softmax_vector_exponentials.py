# entry: most of the time in the maths library's vector functions, which keep large frames
# task: softmax
# expect: CORRECT
"""One pass that keeps the largest value and the sum of sixteen columns at once; two vector exponentials a step."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

constexpr int64_t LANES = 16;

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t row = 0; row < rows; row++) {
        const float* in = x + row * cols;
        float* out = y + row * cols;
        float top[LANES], sum[LANES];
        for (int64_t k = 0; k < LANES; k++) top[k] = in[0], sum[k] = 0.0f;
        int64_t c = 0;
        for (; c + LANES <= cols; c += LANES)
            for (int64_t k = 0; k < LANES; k++) {
                const float now = in[c + k], next = now > top[k] ? now : top[k];
                sum[k] = sum[k] * std::exp(top[k] - next) + std::exp(now - next);
                top[k] = next;
            }
        float largest = in[0];
        for (int64_t k = 0; k < LANES; k++) largest = top[k] > largest ? top[k] : largest;
        for (int64_t d = c; d < cols; d++) largest = in[d] > largest ? in[d] : largest;
        float total = 0.0f;
        for (int64_t k = 0; k < LANES; k++) total += sum[k] * std::exp(top[k] - largest);
        for (int64_t d = c; d < cols; d++) total += std::exp(in[d] - largest);
        const float scale = 1.0f / total;
        for (int64_t d = 0; d < cols; d++) out[d] = std::exp(in[d] - largest) * scale;
    }
}
""",
    ["-ffast-math"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
