import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <cstdint>

constexpr int PARTS = 8;

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t outer, int64_t length,
                           int64_t inner) {
    const int64_t place = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= outer * inner) return;
    const float* column = x + place / inner * length * inner + place % inner;
    float parts[PARTS] = {};
    int64_t i = 0;
    for (; i + PARTS <= length; i += PARTS) {
        #pragma unroll
        for (int p = 0; p < PARTS; p++) parts[p] += column[(i + p) * inner];
    }
    for (; i < length; i++) parts[0] += column[i * inner];
    y[place] = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

torch::Tensor sum_cuda(torch::Tensor input, int64_t dim) {
    auto x = input.contiguous();
    dim = dim < 0 ? dim + x.dim() : dim;
    auto sizes = x.sizes().vec();
    const int64_t length = sizes[dim];
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < dim; d++) outer *= sizes[d];
    for (int64_t d = dim + 1; d < x.dim(); d++) inner *= sizes[d];
    sizes[dim] = 1;
    auto y = torch::empty(sizes, x.options());
    const int threads = 128;
    const unsigned blocks = (unsigned)((outer * inner + threads - 1) / threads);
    cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    sum_kernel<<<blocks, threads, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), outer, length, inner);
    return y;
}
"""

cpp_source = "torch::Tensor sum_cuda(torch::Tensor input, int64_t dim);"

summation = load_inline(
    name="kb_sum_dim",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["sum_cuda"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return summation.sum_cuda(x, self.dim)
