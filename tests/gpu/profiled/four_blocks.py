# entry: too small a grid
# task: relu
# expect: small-grid
"""Four blocks do it all; the other multiprocessors look on."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
extern "C" __global__ void by_few(const float* x, float* y, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float4 v = ((const float4*)x)[i];
        ((float4*)y)[i] = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0));
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.by_few[4, 1024](x, y, x.numel() // 4)
        return y
