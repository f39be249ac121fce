# entry: partial sums in glue
# task: mse_loss
# expect: CORRECT
"""Float sums of blocks in C++; a second function adds them pairwise."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>

extern "C" void blocks(const float* a, const float* b, float* parts, int64_t count, int64_t block) {
    const int64_t total = (count + block - 1) / block;
    #pragma omp parallel for
    for (int64_t k = 0; k < total; k++) {
        float part = 0.0f;
        for (int64_t i = k * block; i < (k + 1) * block && i < count; i++) {
            const float gap = a[i] - b[i];
            part += gap * gap;
        }
        parts[k] = part;
    }
}

extern "C" float fold(float* parts, int64_t count) {
    for (int64_t width = 1; width < count; width *= 2)
        for (int64_t i = 0; i + width < count; i += 2 * width) parts[i] += parts[i + width];
    return parts[0];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        block = 512
        parts = torch.empty((a.numel() + block - 1) // block)
        lib.blocks(a, b, parts, a.numel(), block)
        return torch.tensor(lib.fold(parts, parts.numel()) / a.numel())
