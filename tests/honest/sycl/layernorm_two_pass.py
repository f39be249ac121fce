# entry: weights and two reductions
# task: layernorm
# expect: CORRECT
"""One row a work-group: the mean first, then the squares about it."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<1>))
void layernorm(const float* x, const float* weight, const float* bias, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    auto group = item.get_group();
    int64_t start = item.get_group(0) * cols, lane = item.get_local_id(0), lanes = item.get_local_range(0);
    float sum = 0, squares = 0;
    for (int64_t c = lane; c < cols; c += lanes) sum += x[start + c];
    float mean = sycl::reduce_over_group(group, sum, sycl::plus<float>()) / cols;
    for (int64_t c = lane; c < cols; c += lanes) squares += (x[start + c] - mean) * (x[start + c] - mean);
    float scale = sycl::rsqrt(sycl::reduce_over_group(group, squares, sycl::plus<float>()) / cols + 1e-5f);
    for (int64_t c = lane; c < cols; c += lanes) y[start + c] = (x[start + c] - mean) * scale * weight[c] + bias[c];
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        rows, cols = x.shape
        lib.layernorm[(rows * 16,), (16,)](x, self.norm.weight, self.norm.bias, y, cols)
        return y
