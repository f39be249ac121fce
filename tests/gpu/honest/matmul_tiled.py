# entry: tiles in shared memory
# task: matmul
# expect: CORRECT
"""Tiles of 64 by 64 in shared memory, sixteen sums a thread, plain float32 multiply-adds."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
constexpr int TILE = 64, DEPTH = 16, EACH = 4, THREADS = 256;

__global__ void __launch_bounds__(THREADS)
multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int k, int n) {
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE];
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[EACH][EACH] = {};
    for (int p0 = 0; p0 < k; p0 += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int r = i / DEPTH, p = i % DEPTH;
            left[p][r] = row0 + r < m && p0 + p < k ? a[(long long)(row0 + r) * k + p0 + p] : 0.0f;
        }
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int p = i / TILE, q = i % TILE;
            right[p][q] = p0 + p < k && col0 + q < n ? b[(long long)(p0 + p) * n + col0 + q] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < DEPTH; p++) {
            float u[EACH], v[EACH];
            #pragma unroll
            for (int i = 0; i < EACH; i++) u[i] = left[p][ty + 16 * i];
            #pragma unroll
            for (int j = 0; j < EACH; j++) v[j] = right[p][tx + 16 * j];
            #pragma unroll
            for (int i = 0; i < EACH; i++)
                #pragma unroll
                for (int j = 0; j < EACH; j++) sums[i][j] = fmaf(u[i], v[j], sums[i][j]);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        #pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < m && col < n) c[(long long)row * n + col] = sums[i][j];
        }
    }
}

extern "C" void matmul(const float* a, const float* b, float* c, int m, int k, int n, cudaStream_t stream) {
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, THREADS, 0, stream>>>(a, b, c, m, k, n);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty(m, n, device=a.device)
        lib.matmul(a, b, c, m, k, n)
        return c
