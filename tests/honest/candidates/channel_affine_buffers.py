# entry: buffers of the model
# task: channel_affine
# expect: CORRECT
"""Scale and shift come from registered buffers."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void affine(const float* x, const float* scale, const float* shift, float* y, int64_t batch, int64_t channels, int64_t length) {
    #pragma omp parallel for collapse(2)
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t c = 0; c < channels; c++) {
            const int64_t base = (n * channels + c) * length;
            for (int64_t i = 0; i < length; i++) y[base + i] = std::tanh(x[base + i] * scale[c] + shift[c]);
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.empty(channels))
        self.register_buffer("shift", torch.empty(channels))

    def forward(self, x):
        y = torch.empty_like(x)
        lib.affine(x, self.scale, self.shift, y, *x.shape)
        return y
