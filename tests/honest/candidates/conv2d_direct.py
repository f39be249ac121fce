# entry: direct convolution
# task: conv2d
# expect: CORRECT
"""Seven nested loops; the border is skipped by testing every tap."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void conv2d(const float* x, const float* w, const float* bias, float* y, int64_t batch, int64_t channels, int64_t filters, int64_t height, int64_t width) {
    #pragma omp parallel for collapse(2)
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t f = 0; f < filters; f++) {
            for (int64_t i = 0; i < height; i++) {
                for (int64_t j = 0; j < width; j++) {
                    float total = bias[f];
                    for (int64_t c = 0; c < channels; c++) {
                        for (int64_t u = 0; u < 3; u++) {
                            const int64_t row = i + u - 1;
                            if (row < 0 || row >= height) continue;
                            for (int64_t v = 0; v < 3; v++) {
                                const int64_t col = j + v - 1;
                                if (col < 0 || col >= width) continue;
                                total += x[((n * channels + c) * height + row) * width + col] * w[((f * channels + c) * 3 + u) * 3 + v];
                            }
                        }
                    }
                    y[((n * filters + f) * height + i) * width + j] = total;
                }
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        filters = self.conv.weight.shape[0]
        y = torch.empty(batch, filters, height, width)
        lib.conv2d(x, self.conv.weight, self.conv.bias, y, batch, channels, filters, height, width)
        return y
