# entry: critical section
# task: mse_loss
# expect: CORRECT
"""Every thread adds its part to the total inside a critical section."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void mse(const float* a, const float* b, float* y, int64_t count) {
    double total = 0.0;
    #pragma omp parallel
    {
        double part = 0.0;
        #pragma omp for nowait
        for (int64_t i = 0; i < count; i++) {
            const double gap = a[i] - b[i];
            part += gap * gap;
        }
        #pragma omp critical
        total += part;
    }
    y[0] = (float)(total / count);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        y = torch.empty(())
        lib.mse(a, b, y, a.numel())
        return y
