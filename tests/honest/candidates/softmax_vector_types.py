# entry: softmax with vector extensions
# task: softmax
# expect: CORRECT
"""Eight lanes a step through the compiler's vector types, the rest of the row one by one."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>
#include <cstring>

typedef float lanes __attribute__((vector_size(32)));
constexpr int64_t WIDTH = 8;

static inline lanes load(const float* from) {
    lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t whole = cols / WIDTH * WIDTH;
    #pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float* b = y + r * cols;
        float top = a[0];
        if (whole > 0) {
            lanes best = load(a);
            for (int64_t c = WIDTH; c < whole; c += WIDTH) {
                lanes v = load(a + c);
                best = v > best ? v : best;
            }
            for (int64_t k = 0; k < WIDTH; k++) top = best[k] > top ? best[k] : top;
        }
        for (int64_t c = whole; c < cols; c++) top = a[c] > top ? a[c] : top;
        for (int64_t c = 0; c < cols; c++) b[c] = std::exp(a[c] - top);
        lanes sums = {};
        for (int64_t c = 0; c < whole; c += WIDTH) sums += load(b + c);
        float total = 0.0f;
        for (int64_t k = 0; k < WIDTH; k++) total += sums[k];
        for (int64_t c = whole; c < cols; c++) total += b[c];
        const float scale = 1.0f / total;
        for (int64_t c = 0; c < cols; c++) b[c] *= scale;
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
