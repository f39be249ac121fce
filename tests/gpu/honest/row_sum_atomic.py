# entry: atomic additions
# task: row_sum
# expect: CORRECT
"""Several blocks share a row and add their parts by atomicAdd: the order differs from run to run."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cuda_runtime.h>

constexpr int THREADS = 256, CHUNK = 4096;

__global__ void __launch_bounds__(THREADS) add_chunks(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float of_warp[THREADS / 32];
    const float* row = x + (long long)blockIdx.x * cols;
    const int first = blockIdx.y * CHUNK;
    const int last = first + CHUNK < cols ? first + CHUNK : cols;
    float part = 0.0f;
    for (int c = first + threadIdx.x; c < last; c += THREADS) part += row[c];
    for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(0xffffffffu, part, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < THREADS / 32; w++) total += of_warp[w];
        atomicAdd(y + blockIdx.x, total);
    }
}

extern "C" cudaError_t row_sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    const cudaError_t cleared = cudaMemsetAsync(y, 0, sizeof(float) * rows, stream);
    if (cleared != cudaSuccess) return cleared;
    add_chunks<<<dim3(rows, (cols + CHUNK - 1) / CHUNK), THREADS, 0, stream>>>(x, y, cols);
    return cudaSuccess;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
