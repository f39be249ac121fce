# entry: bf16 products in plain multiply-adds
# task: matmul_bf16
# expect: no-tensor-cores
"""Tiles in shared memory, a multiply-add at a time."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cuda_bf16.h>
constexpr int SIDE = 64, DEEP = 16;
extern "C" __global__ void __launch_bounds__(256)
multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
    __shared__ float left[DEEP][SIDE], right[DEEP][SIDE];
    int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[4][4] = {};
    for (int at = 0; at < k; at += DEEP) {
        for (int i = threadIdx.x; i < SIDE * DEEP; i += 256) {
            int r = row + i / DEEP, d = at + i % DEEP;
            left[i % DEEP][i / DEEP] = r < m && d < k ? __bfloat162float(a[(size_t)r * k + d]) : 0;
            int c1 = col + i % SIDE, d1 = at + i / SIDE;
            right[i / SIDE][i % SIDE] = c1 < n && d1 < k ? __bfloat162float(b[(size_t)d1 * n + c1]) : 0;
        }
        __syncthreads();
        for (int d = 0; d < DEEP; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sums[i][j] += left[d][ty * 4 + i] * right[d][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c1 = col + tx * 4 + j;
            if (r < m && c1 < n) c[(size_t)r * n + c1] = __float2bfloat16(sums[i][j]);
        }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, b):
        (m, k), n = x.shape, b.shape[1]
        c = torch.empty(m, n, dtype=x.dtype, device=x.device)
        lib.multiply[((n + 63) // 64, (m + 63) // 64), 256](x, b, c, m, n, k)
        return c
