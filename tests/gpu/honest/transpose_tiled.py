# entry: transpose through padded tiles
# task: transpose
# expect: CORRECT
"""Reads and writes whole lines; the tile between them is one column wider, so that banks do not collide."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
extern "C" __global__ void transpose_kernel(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (row0 + i < rows && col < cols) tile[i][threadIdx.x] = x[(long long)(row0 + i) * cols + col];
    __syncthreads();
    const int row = row0 + threadIdx.x, col0 = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (row < rows && col0 + i < cols) y[(long long)(col0 + i) * rows + row] = tile[threadIdx.x][i];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(cols, rows, device=x.device)
        lib.transpose_kernel[((cols + 31) // 32, (rows + 31) // 32), (32, 8)](x, y, rows, cols)
        return y
