# entry: batch normalisation in training mode
# task: batchnorm_train
# expect: CORRECT
"""Statistics of the batch, two passes a channel; the running ones are kept up to date as torch does."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void batchnorm(const float* x, const float* weight, const float* bias, float* running_mean, float* running_var, float* y, int64_t batch, int64_t channels, int64_t plane) {
    const int64_t count = batch * plane;
    #pragma omp parallel for
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0.0;
        for (int64_t n = 0; n < batch; n++)
            for (int64_t i = 0; i < plane; i++) sum += x[(n * channels + c) * plane + i];
        const double mean = sum / count;
        double squares = 0.0;
        for (int64_t n = 0; n < batch; n++) {
            for (int64_t i = 0; i < plane; i++) {
                const double gap = x[(n * channels + c) * plane + i] - mean;
                squares += gap * gap;
            }
        }
        running_mean[c] = 0.9f * running_mean[c] + 0.1f * (float)mean;
        running_var[c] = 0.9f * running_var[c] + 0.1f * (float)(squares / (count - 1));
        const float scale = (float)(weight[c] / std::sqrt(squares / count + 1e-5));
        for (int64_t n = 0; n < batch; n++) {
            for (int64_t i = 0; i < plane; i++) {
                const int64_t at = (n * channels + c) * plane + i;
                y[at] = (float)((x[at] - mean) * scale) + bias[c];
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = torch.nn.BatchNorm2d(features)

    def forward(self, x):
        batch, channels, height, width = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        lib.batchnorm(x, bn.weight, bn.bias, bn.running_mean, bn.running_var, y, batch, channels, height * width)
        return y
