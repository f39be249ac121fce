import torch
import torch.nn as nn

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

// One thread a position: the features of a position lie `inner` apart, neighbouring threads read neighbouring floats.
__global__ void rms_norm_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t outer, int features,
                                int64_t inner, float eps) {
    const int64_t position = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= outer * inner) return;
    const int64_t start = position / inner * inner * features + position % inner;
    float squares = 0.0f;
    #pragma unroll 8
    for (int f = 0; f < features; f++) {
        const float v = x[start + f * inner];
        squares += v * v;
    }
    const float rms = sqrtf(squares / features + eps);
    #pragma unroll 8
    for (int f = 0; f < features; f++) y[start + f * inner] = x[start + f * inner] / rms;
}

extern "C" void rms_norm(const float* x, float* y, int64_t outer, int features, int64_t inner, float eps,
                         cudaStream_t stream) {
    const int threads = 256;
    const unsigned blocks = (unsigned)((outer * inner + threads - 1) / threads);
    rms_norm_kernel<<<blocks, threads, 0, stream>>>(x, y, outer, features, inner, eps);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5):
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        outer, features = x.shape[:2]
        lib.rms_norm(x, y, outer, features, x.numel() // (outer * features), self.eps)
        return y
