# entry: Huber loss to a scalar
# task: huber_loss
# expect: CORRECT
"""One double a thread in a shared array, added in order at the end."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>
#include <omp.h>
#include <vector>

extern "C" double huber(const float* guess, const float* truth, int64_t count) {
    std::vector<double> parts(omp_get_max_threads(), 0.0);
    #pragma omp parallel
    {
        double mine = 0.0;
        #pragma omp for
        for (int64_t i = 0; i < count; i++) {
            const double gap = std::fabs(guess[i] - truth[i]);
            mine += gap < 1.0 ? 0.5 * gap * gap : gap - 0.5;
        }
        parts[omp_get_thread_num()] = mine;
    }
    double total = 0.0;
    for (double part : parts) total += part;
    return total / count;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, guess, truth):
        return torch.tensor(lib.huber(guess, truth, guess.numel()), dtype=torch.float32)
