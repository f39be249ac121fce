# entry: prints to stdout
# task: relu
# expect: CORRECT
"""Says what it does, in Python and in C++, and does it."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cstdint>
#include <cstdio>

extern "C" void relu(const float* x, float* y, int64_t count) {
    static int said = 0;
    if (said++ == 0) {
        std::printf("relu of %lld elements\n", (long long)count);
        std::fflush(stdout);
    }
    for (int64_t i = 0; i < count; i++) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
"""
)


class ModelNew(torch.nn.Module):
    calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls < 3:
            print("call", self.calls, flush=True)
        y = torch.empty_like(x)
        lib.relu(x, y, x.numel())
        return y
