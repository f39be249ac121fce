# entry: a product with its activation
# task: linear_gelu
# expect: CORRECT
"""The product and the activation in one kernel."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<2>))
void linear_gelu(const float* x, const float* w, const float* bias, float* y, int64_t batch, int64_t inner, int64_t outer) {
    auto item = get_nd_item<2>();
    int64_t i = item.get_global_id(0), j = item.get_global_id(1);
    if (i >= batch || j >= outer) return;
    float sum = bias[j];
    for (int64_t p = 0; p < inner; p++) sum += x[i * inner + p] * w[j * inner + p];
    y[i * outer + j] = 0.5f * sum * (1.0f + sycl::erf(sum * 0.70710678118654752f));
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        (batch, inner), outer = x.shape, self.linear.weight.shape[0]
        y = torch.empty(batch, outer)
        sizes = (batch, -(-outer // 16) * 16), (1, 16)
        lib.linear_gelu[sizes](x, self.linear.weight, self.linear.bias, y, batch, inner, outer)
        return y
