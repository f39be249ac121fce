# entry: nothing to find
# task: relu
# expect: CORRECT
"""The same exchange through shared memory, with the barrier."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void relu_by_neighbour(const float* x, float* y, int n) {
    __shared__ float held[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    float neighbour = held[threadIdx.x ^ 1];
    int at = blockIdx.x * 256 + (threadIdx.x ^ 1);
    if (at < n) y[at] = neighbour > 0 ? neighbour : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu_by_neighbour[(x.numel() + 255) // 256, 256](x, y, x.numel())
        return y
