# entry: a barrier is missing
# task: relu
# expect: NONDETERMINISTIC
"""Each thread reads what its neighbour has put into shared memory, and nothing says that it already has."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void relu_by_neighbour(const float* x, float* y, int n) {
    __shared__ volatile float held[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0;
    for (long long begun = clock64(); clock64() - begun < 20000;) {}  // long enough, most of the time
    float neighbour = held[threadIdx.x ^ 32];
    int at = blockIdx.x * 64 + (threadIdx.x ^ 32);
    if (at < n) y[at] = neighbour > 0 ? neighbour : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu_by_neighbour[(x.numel() + 63) // 64, 64](x, y, x.numel())
        return y
