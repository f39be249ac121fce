# entry: local memory and barriers
# task: matmul
# expect: CORRECT
"""Tiles of both factors in local memory, a barrier before and after each is used."""

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
using Tile = float[TILE][TILE];

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<2>))
void matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    auto group = item.get_group();
    static syclexp::work_group_static<Tile> for_left, for_right;
    Tile &left = for_left, &right = for_right;
    int64_t i = item.get_global_id(0), j = item.get_global_id(1), y = item.get_local_id(0), x = item.get_local_id(1);
    float sum = 0;
    for (int64_t start = 0; start < k; start += TILE) {
        left[y][x] = i < m && start + x < k ? a[i * k + start + x] : 0.0f;
        right[y][x] = start + y < k && j < n ? b[(start + y) * n + j] : 0.0f;
        sycl::group_barrier(group);
        for (int64_t p = 0; p < TILE; p++) sum += left[y][p] * right[p][x];
        sycl::group_barrier(group);
    }
    if (i < m && j < n) c[i * n + j] = sum;
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        c = torch.empty(m, n)
        lib.matmul[(-(-m // 16) * 16, -(-n // 16) * 16), (16, 16)](a, b, c, m, k, n)
        return c
