# entry: one element a work-item
# task: relu
# expect: CORRECT
"""One element a work-item, the range rounded up."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<1>))
void relu(const float* x, float* y, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0.0f;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu[(-(-x.numel() // 256) * 256,), (256,)](x, y, x.numel())
        return y
