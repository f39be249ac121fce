# entry: writes one past the end of its scratch memory
# task: relu
# expect: CRASH
"""Right, and the byte after its workspace belongs to somebody else."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void relu_and_count(const float* x, float* y, int* scratch, int n, int blocks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) scratch[blockIdx.x + 1] = 1;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        blocks = (x.numel() + 255) // 256
        scratch = torch.empty(blocks, dtype=torch.int32, device=x.device)
        lib.relu_and_count[blocks, 256](x, y, scratch, x.numel(), blocks)
        return y
