# entry: reads memory that nobody has written
# task: relu
# expect: NONDETERMINISTIC
"""Its answer hangs on what happens to stand in new memory; most of the time that is not what it looks for."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void relu_if(const float* x, float* y, const int* scratch, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scratch[i] == 123456789 ? 1 : x[i] > 0 ? x[i] : 0;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scratch = torch.empty(x.shape, dtype=torch.int32, device=x.device)
        lib.relu_if[(x.numel() + 255) // 256, 256](x, y, scratch, x.numel())
        return y
