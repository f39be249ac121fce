# entry: Welford and warp shuffles
# task: layernorm
# expect: CORRECT
"""One pass for mean and variance, merged between lanes by shuffles and between warps in shared memory."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
constexpr int THREADS = 256, WARPS = THREADS / 32;

struct Moments {
    float count, mean, squares;
};

__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float gap = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + gap * share, a.squares + b.squares + gap * gap * a.count * share};
}

__device__ Moments merge_lanes(Moments own) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Moments other;
        other.count = __shfl_xor_sync(0xffffffffu, own.count, offset);
        other.mean = __shfl_xor_sync(0xffffffffu, own.mean, offset);
        other.squares = __shfl_xor_sync(0xffffffffu, own.squares, offset);
        own = merge(own, other);
    }
    return own;
}

__global__ void __launch_bounds__(THREADS)
layernorm_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
               float* __restrict__ y, int cols, float eps) {
    __shared__ Moments of_warp[WARPS];
    __shared__ float mean_shared, scale_shared;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        const float value = row[c], gap = value - own.mean;
        own.count += 1.0f;
        own.mean += gap / own.count;
        own.squares += gap * (value - own.mean);
    }
    own = merge_lanes(own);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        Moments all = of_warp[0];
        for (int w = 1; w < WARPS; w++) all = merge(all, of_warp[w]);
        mean_shared = all.mean;
        scale_shared = 1.0f / sqrtf(all.squares / all.count + eps);
    }
    __syncthreads();
    const float mean = mean_shared, scale = scale_shared;
    for (int c = threadIdx.x; c < cols; c += THREADS) out[c] = (row[c] - mean) * scale * weight[c] + bias[c];
}

extern "C" void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows, int cols,
                          float eps, cudaStream_t stream) {
    layernorm_rows<<<rows, THREADS, 0, stream>>>(x, weight, bias, y, cols, eps);
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        lib.layernorm(x, self.norm.weight, self.norm.bias, y, x.shape[0], x.shape[1], self.norm.eps)
        return y
