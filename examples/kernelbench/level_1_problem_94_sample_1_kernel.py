import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

constexpr int THREADS = 256;

__device__ double block_sum(double own) {
    __shared__ double of_warp[THREADS / 32];
    for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(0xffffffffu, own, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    double total = 0.0;
    for (int w = 0; w < THREADS / 32; w++) total += of_warp[w];
    return total;
}

__global__ void partial_kernel(const float* __restrict__ a, const float* __restrict__ b, double* __restrict__ parts,
                               int64_t n) {
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    double own = 0.0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride) {
        const float gap = a[i] - b[i];
        own += gap * gap;
    }
    const double total = block_sum(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

__global__ void final_kernel(const double* __restrict__ parts, float* __restrict__ y, int count, double n) {
    double own = 0.0;
    for (int i = threadIdx.x; i < count; i += THREADS) own += parts[i];
    const double total = block_sum(own);
    if (threadIdx.x == 0) y[0] = (float)(total / n);
}

extern "C" void mse(const float* a, const float* b, double* parts, float* y, int64_t n, int blocks,
                    cudaStream_t stream) {
    partial_kernel<<<blocks, THREADS, 0, stream>>>(a, b, parts, n);
    final_kernel<<<1, THREADS, 0, stream>>>(parts, y, blocks, (double)n);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        a, b = predictions.contiguous(), targets.contiguous()
        blocks = 132 * 32
        parts = torch.empty(blocks, device=a.device, dtype=torch.float64)
        y = torch.empty((), device=a.device, dtype=a.dtype)
        lib.mse(a, b, parts, y, a.numel(), blocks)
        return y
