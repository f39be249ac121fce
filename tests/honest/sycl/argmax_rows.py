# entry: integers out
# task: argmax
# expect: CORRECT
"""One row a work-item; the first of equals."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<1>))
void argmax(const float* x, int64_t* y, int64_t rows, int64_t cols) {
    int64_t row = get_nd_item<1>().get_global_id(0);
    if (row >= rows) return;
    int64_t best = 0;
    for (int64_t c = 1; c < cols; c++)
        if (x[row * cols + c] > x[row * cols + best]) best = c;
    y[row] = best;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(rows, dtype=torch.int64)
        lib.argmax[(rows,), (1,)](x, y, rows, cols)
        return y
