# entry: one recurrent step
# task: gru_step
# expect: CORRECT
"""The three gates of a GRU, one unit at a time."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

static float sigmoid(float v) { return 1.0f / (1.0f + std::exp(-v)); }

static float dot(const float* a, const float* b, int64_t count) {
    float total = 0.0f;
    for (int64_t i = 0; i < count; i++) total += a[i] * b[i];
    return total;
}

extern "C" void gru_step(const float* x, const float* state, const float* wi, const float* wh, const float* bi, const float* bh, float* y, int64_t batch, int64_t inner, int64_t hidden) {
    #pragma omp parallel for
    for (int64_t n = 0; n < batch; n++) {
        const float* a = x + n * inner;
        const float* h = state + n * hidden;
        for (int64_t u = 0; u < hidden; u++) {
            const int64_t v = hidden + u, w = 2 * hidden + u;
            const float reset = sigmoid(dot(a, wi + u * inner, inner) + bi[u] + dot(h, wh + u * hidden, hidden) + bh[u]);
            const float update = sigmoid(dot(a, wi + v * inner, inner) + bi[v] + dot(h, wh + v * hidden, hidden) + bh[v]);
            const float memory = dot(h, wh + w * hidden, hidden) + bh[w];
            const float fresh = std::tanh(dot(a, wi + w * inner, inner) + bi[w] + reset * memory);
            y[n * hidden + u] = (1.0f - update) * fresh + update * h[u];
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, hidden):
        super().__init__()
        self.cell = torch.nn.GRUCell(inner, hidden)

    def forward(self, x, state):
        cell = self.cell
        y = torch.empty_like(state)
        weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
        lib.gru_step(x, state, *weights, y, x.shape[0], x.shape[1], state.shape[1])
        return y
