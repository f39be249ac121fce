# entry: loss with integer targets
# task: cross_entropy
# expect: CORRECT
"""Log-sum-exp and the target logit of each row, averaged in double through a reduction clause."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

extern "C" void cross_entropy(const float* logits, const int64_t* targets, float* y, int64_t batch, int64_t classes) {
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int64_t i = 0; i < batch; i++) {
        const float* row = logits + i * classes;
        float top = row[0];
        for (int64_t c = 1; c < classes; c++) top = row[c] > top ? row[c] : top;
        float sum = 0.0f;
        for (int64_t c = 0; c < classes; c++) sum += std::exp(row[c] - top);
        total += std::log(sum) + top - row[targets[i]];
    }
    y[0] = (float)(total / batch);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, logits, targets):
        y = torch.empty(())
        lib.cross_entropy(logits, targets, y, logits.shape[0], logits.shape[1])
        return y
