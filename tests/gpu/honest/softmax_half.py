# entry: half precision in and out
# task: softmax_half
# expect: CORRECT
"""Reads and writes __half, keeps maximum and sum in float32, and rounds once at the end."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int THREADS = 128, WARPS = THREADS / 32;

__device__ float block_max(float own) {
    __shared__ float of_warp[WARPS];
    for (int offset = 16; offset > 0; offset /= 2) own = fmaxf(own, __shfl_xor_sync(0xffffffffu, own, offset));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    float top = of_warp[0];
    for (int w = 1; w < WARPS; w++) top = fmaxf(top, of_warp[w]);
    return top;
}

__device__ float block_sum(float own) {
    __shared__ float of_warp[WARPS];
    for (int offset = 16; offset > 0; offset /= 2) own += __shfl_xor_sync(0xffffffffu, own, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < WARPS; w++) total += of_warp[w];
    return total;
}

__global__ void __launch_bounds__(THREADS)
softmax_rows(const __half* __restrict__ x, __half* __restrict__ y, int cols) {
    const __half* row = x + (long long)blockIdx.x * cols;
    __half* out = y + (long long)blockIdx.x * cols;
    float own = -CUDART_INF_F;
    for (int c = threadIdx.x; c < cols; c += THREADS) own = fmaxf(own, __half2float(row[c]));
    const float top = block_max(own);
    float part = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) part += expf(__half2float(row[c]) - top);
    const float total = block_sum(part);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        out[c] = __float2half_rn(expf(__half2float(row[c]) - top) / total);
}

extern "C" void softmax(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
    softmax_rows<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
