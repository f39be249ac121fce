# entry: two dimensions
# task: matmul
# expect: CORRECT
"""One element of the product a work-item, columns side by side."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<2>))
void matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    int64_t i = item.get_global_id(0), j = item.get_global_id(1);
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
    c[i * n + j] = sum;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        c = torch.empty(m, n)
        lib.matmul[(m, -(-n // 32) * 32), (1, 32)](a, b, c, m, k, n)
        return c
