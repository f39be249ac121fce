# entry: a barrier within a warp is missing
# task: relu
# expect: CORRECT
"""Each thread reads what its neighbour has put into shared memory, all of them in one warp: a warning."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void relu_by_neighbour(const float* x, float* y, int n) {
    __shared__ float held[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0;
    float neighbour = held[threadIdx.x ^ 1];
    int at = blockIdx.x * 32 + (threadIdx.x ^ 1);
    if (at < n) y[at] = neighbour > 0 ? neighbour : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu_by_neighbour[(x.numel() + 31) // 32, 32](x, y, x.numel())
        return y
