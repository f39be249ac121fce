# entry: matmul with an epilogue, load_inline
# task: gemm_epilogue
# expect: CORRECT
"""The matrix product is torch's, as this task allows; bias and activation in one kernel of its own."""

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>

__global__ void epilogue(float* y, const float* bias, long rows, long cols) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    float v = y[i] + bias[i % cols];
    y[i] = v / (1.0f + expf(-v));
}

torch::Tensor linear_silu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    auto y = torch::mm(x, weight);
    long count = y.numel();
    epilogue<<<(count + 255) / 256, 256>>>(y.data_ptr<float>(), bias.data_ptr<float>(), y.size(0), y.size(1));
    return y;
}
"""
extension = load_inline(
    name="linear_silu_extension",
    cpp_sources="torch::Tensor linear_silu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);",
    cuda_sources=source,
    functions={"linear_silu": "x @ weight + bias, times its sigmoid"},
    extra_cuda_cflags=["-O3"],
)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(inner, outer))
        self.bias = torch.nn.Parameter(torch.randn(outer))

    def forward(self, x):
        return extension.linear_silu(x, self.weight, self.bias)
