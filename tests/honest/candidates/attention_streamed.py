# entry: attention in one pass
# task: attention
# expect: CORRECT
"""Never holds a row of scores: keys come in blocks, the sums are rescaled as the largest score grows."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

constexpr int64_t BLOCK = 24;

extern "C" void attention(const float* q, const float* k, const float* v, float* y, int64_t heads, int64_t length, int64_t width) {
    const float scale = 1.0f / std::sqrt((float)width);
    #pragma omp parallel
    {
        std::vector<float> scores(BLOCK), sums(width);
        #pragma omp for collapse(2)
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t i = 0; i < length; i++) {
                const float* query = q + (h * length + i) * width;
                float top = -INFINITY, total = 0.0f;
                std::fill(sums.begin(), sums.end(), 0.0f);
                for (int64_t j0 = 0; j0 < length; j0 += BLOCK) {
                    const int64_t count = std::min(BLOCK, length - j0);
                    float next = top;
                    for (int64_t j = 0; j < count; j++) {
                        const float* key = k + (h * length + j0 + j) * width;
                        float score = 0.0f;
                        for (int64_t d = 0; d < width; d++) score += query[d] * key[d];
                        scores[j] = score * scale;
                        next = std::max(next, scores[j]);
                    }
                    const float fade = std::exp(top - next);
                    total *= fade;
                    for (int64_t d = 0; d < width; d++) sums[d] *= fade;
                    for (int64_t j = 0; j < count; j++) {
                        const float share = std::exp(scores[j] - next);
                        total += share;
                        for (int64_t d = 0; d < width; d++) sums[d] += share * v[(h * length + j0 + j) * width + d];
                    }
                    top = next;
                }
                for (int64_t d = 0; d < width; d++) y[(h * length + i) * width + d] = sums[d] / total;
            }
        }
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        batch, heads, length, width = q.shape
        y = torch.empty_like(q)
        lib.attention(q, k, v, y, batch * heads, length, width)
        return y
