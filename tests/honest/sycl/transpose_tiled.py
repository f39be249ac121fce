# entry: a tile turned in local memory
# task: transpose
# expect: CORRECT
"""Tiles go through local memory, so that reads and writes both run along rows."""

import torch

from kernelwright import native

lib = native.sycl(
    r"""
#include <sycl/sycl.hpp>
#include <sycl/ext/oneapi/work_group_static.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;

constexpr int64_t TILE = 16;
using Tile = float[TILE][TILE + 1];

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<2>))
void transpose(const float* x, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<2>();
    auto group = item.get_group();
    static syclexp::work_group_static<Tile> memory;
    Tile& tile = memory;
    int64_t top = item.get_group(0) * TILE, left = item.get_group(1) * TILE;
    int64_t i = item.get_local_id(0), j = item.get_local_id(1);
    if (top + i < rows && left + j < cols) tile[i][j] = x[(top + i) * cols + left + j];
    sycl::group_barrier(group);
    if (left + i < cols && top + j < rows) y[(left + i) * rows + top + j] = tile[j][i];
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(cols, rows)
        lib.transpose[(-(-rows // 16) * 16, -(-cols // 16) * 16), (16, 16)](x, y, rows, cols)
        return y
