# entry: integers out, ties in
# task: argmax
# expect: CORRECT
"""Value and place travel together through the shuffles; of equal values the first place wins."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__device__ __forceinline__ bool better(float value, int place, float top, int best) {
    return value > top || (value == top && place < best);
}

__global__ void __launch_bounds__(THREADS) argmax_rows(const float* __restrict__ x, int64_t* __restrict__ y, int cols) {
    __shared__ float tops[WARPS];
    __shared__ int bests[WARPS];
    const float* row = x + (int64_t)blockIdx.x * cols;
    float top = -CUDART_INF_F;
    int best = cols;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        const float value = row[c];
        if (better(value, c, top, best)) {
            top = value;
            best = c;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(0xffffffffu, top, offset);
        const int place = __shfl_xor_sync(0xffffffffu, best, offset);
        if (better(value, place, top, best)) {
            top = value;
            best = place;
        }
    }
    if (threadIdx.x % 32 == 0) {
        tops[threadIdx.x / 32] = top;
        bests[threadIdx.x / 32] = best;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++) {
            if (better(tops[w], bests[w], top, best)) {
                top = tops[w];
                best = bests[w];
            }
        }
        y[blockIdx.x] = best;
    }
}

extern "C" void argmax(const float* x, int64_t* y, int rows, int cols, cudaStream_t stream) {
    argmax_rows<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        lib.argmax(x, y, x.shape[0], x.shape[1])
        return y
