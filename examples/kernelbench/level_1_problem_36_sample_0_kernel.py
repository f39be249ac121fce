import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
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

torch::Tensor rms_norm_cuda(torch::Tensor input, double eps) {
    auto x = input.contiguous();
    auto y = torch::empty_like(x);
    const int64_t outer = x.size(0);
    const int features = (int)x.size(1);
    const int64_t inner = x.numel() / (outer * features);
    const int threads = 256;
    const unsigned blocks = (unsigned)((outer * inner + threads - 1) / threads);
    cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    rms_norm_kernel<<<blocks, threads, 0, stream>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), outer, features, inner, (float)eps);
    return y;
}
"""

cpp_source = "torch::Tensor rms_norm_cuda(torch::Tensor input, double eps);"

rms_norm = load_inline(
    name="kb_rms_norm",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["rms_norm_cuda"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5):
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return rms_norm.rms_norm_cuda(x, self.eps)
