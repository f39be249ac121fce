# entry: bytes to floats
# task: pixels_normalised
# expect: CORRECT
"""From interleaved bytes to planes of floats."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void normalise(const uint8_t* pixels, const float* mean, const float* deviation, float* y, int64_t batch, int64_t plane) {
    #pragma omp parallel for
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t c = 0; c < 3; c++) {
            const float scale = 1.0f / deviation[c];
            for (int64_t i = 0; i < plane; i++)
                y[(n * 3 + c) * plane + i] = (pixels[(n * plane + i) * 3 + c] / 255.0f - mean[c]) * scale;
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.empty(3))
        self.register_buffer("std", torch.empty(3))

    def forward(self, pixels):
        batch, height, width, _ = pixels.shape
        y = torch.empty(batch, 3, height, width)
        lib.normalise(pixels, self.mean, self.std, y, batch, height * width)
        return y
