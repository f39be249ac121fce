import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

extern "C" __global__ void diagonal_times_matrix(const float* a, const float* b, float* c, int64_t cols) {
    const float factor = a[blockIdx.x];
    const int64_t start = (int64_t)blockIdx.x * cols;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) c[start + i] = factor * b[start + i];
}
"""
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        A, B = A.contiguous(), B.contiguous()
        C = torch.empty_like(B)
        rows, cols = B.shape
        lib.diagonal_times_matrix[rows, 256](A, B, C, cols)
        return C
