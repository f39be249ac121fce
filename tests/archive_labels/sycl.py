"""SYCL, as free-function kernels."""

from tests.archive_labels import Labelled, candidate

_HEAD = """
#include <sycl/sycl.hpp>
#include <sycl/ext/oneapi/work_group_static.hpp>
#include <cstdint>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;
#define KERNEL(D) extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<D>)) void
"""


def _sycl(
    name: str,
    cell: tuple[int, int, int],
    why: str,
    text: str,
    trap: bool = False,
    calls: tuple[str, ...] = ("lib.run[(1024,), (16,)](x, y, *sizes)",),
) -> Labelled:
    return Labelled(name, cell, why, candidate("sycl", _HEAD + text, *calls), trap)


KERNELS = [
    _sycl(
        "relu",
        (0, 0, 0),
        "a map, an element a work-item",
        """
KERNEL(1) run(const float* x, float* y, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    if (i < n) y[i] = sycl::fmax(x[i], 0.0f);
}
""",
    ),
    _sycl(
        "relu_vectors",
        (1, 0, 0),
        "four floats an access",
        """
KERNEL(1) run(const float* x, float* y, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    auto from = reinterpret_cast<const sycl::vec<float, 4>*>(x);
    auto to = reinterpret_cast<sycl::vec<float, 4>*>(y);
    if (i * 4 < n) to[i] = sycl::fmax(from[i], sycl::vec<float, 4>(0.0f));
}
""",
    ),
    _sycl(
        "scale_vector_parameter",
        (1, 0, 0),
        "pointers to vectors from the start",
        """
KERNEL(1) run(const sycl::float8* x, sycl::float8* y, float factor, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    if (i < n) y[i] = x[i] * factor;
}
""",
    ),
    _sycl(
        "sigmoid_vector_load",
        (1, 0, 0),
        "vectors loaded and stored by their own methods",
        """
KERNEL(1) run(const float* x, float* y, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    sycl::vec<float, 8> v;
    v.load(i, sycl::address_space_cast<sycl::access::address_space::global_space, sycl::access::decorated::no>(x));
    v = 1.0f / (1.0f + sycl::exp(-v));
    v.store(i, sycl::address_space_cast<sycl::access::address_space::global_space, sycl::access::decorated::no>(y));
}
""",
    ),
    _sycl(
        "matmul_element_a_work_item",
        (0, 0, 0),
        "a product as the formula says it",
        """
KERNEL(2) run(const float* a, const float* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    int64_t i = item.get_global_id(0), j = item.get_global_id(1);
    float sum = 0;
    for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
    c[i * n + j] = sum;
}
""",
    ),
    _sycl(
        "matmul_local_tiles",
        (2, 0, 1),
        "tiles in local memory, a barrier before and after each is used",
        """
constexpr int64_t TILE = 16;
using Tile = float[TILE][TILE];
KERNEL(2) run(const float* a, const float* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    static syclexp::work_group_static<Tile> for_left, for_right;
    Tile &left = for_left, &right = for_right;
    int64_t i = item.get_global_id(0), j = item.get_global_id(1), y = item.get_local_id(0), x = item.get_local_id(1);
    float sum = 0;
    for (int64_t start = 0; start < k; start += TILE) {
        left[y][x] = a[i * k + start + x];
        right[y][x] = b[(start + y) * n + j];
        sycl::group_barrier(item.get_group());
        for (int64_t p = 0; p < TILE; p++) sum += left[y][p] * right[p][x];
        sycl::group_barrier(item.get_group());
    }
    c[i * n + j] = sum;
}
""",
    ),
    _sycl(
        "matmul_local_and_register_tiles",
        (3, 0, 1),
        "local tiles feed a tile of sums in registers",
        """
constexpr int T = 16, R = 4;
using Wide = float[T][T * R];
using Narrow = float[T][T];
KERNEL(2) run(const float* a, const float* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    static syclexp::work_group_static<Narrow> for_left;
    static syclexp::work_group_static<Wide> for_right;
    Narrow& left = for_left;
    Wide& right = for_right;
    int64_t row = item.get_global_id(0), ly = item.get_local_id(0), lx = item.get_local_id(1);
    int64_t first = item.get_group(1) * T * R;
    float acc[R] = {};
    for (int64_t p0 = 0; p0 < k; p0 += T) {
        left[ly][lx] = a[row * k + p0 + lx];
        for (int r = 0; r < R; r++) right[ly][lx + r * T] = b[(p0 + ly) * n + first + lx + r * T];
        sycl::group_barrier(item.get_group());
        for (int p = 0; p < T; p++)
            for (int r = 0; r < R; r++) acc[r] = sycl::fma(left[ly][p], right[p][lx + r * T], acc[r]);
        sycl::group_barrier(item.get_group());
    }
    for (int r = 0; r < R; r++) c[row * n + first + lx + r * T] = acc[r];
}
""",
    ),
    _sycl(
        "matmul_register_tile_alone",
        (2, 0, 0),
        "eight sums a work-item share their left factor",
        """
KERNEL(2) run(const float* a, const float* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    int64_t i = item.get_global_id(0), j = item.get_global_id(1) * 8;
    float sums[8] = {};
    for (int64_t p = 0; p < k; p++) {
        const float left = a[i * k + p];
        for (int q = 0; q < 8; q++) sums[q] += left * b[p * n + j + q];
    }
    for (int q = 0; q < 8; q++) c[i * n + j + q] = sums[q];
}
""",
    ),
    _sycl(
        "matmul_local_tiles_twice",
        (3, 0, 1),
        "two halves of a local tile, one filled while the other is in use",
        """
using Pair = float[2][16][16];
KERNEL(2) run(const float* a, const float* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    static syclexp::work_group_static<Pair> for_left, for_right;
    float (&left)[2][16][16] = for_left;
    float (&right)[2][16][16] = for_right;
    int64_t i = item.get_global_id(0), j = item.get_global_id(1), y = item.get_local_id(0), x = item.get_local_id(1);
    left[0][y][x] = a[i * k + x];
    right[0][y][x] = b[y * n + j];
    sycl::group_barrier(item.get_group());
    float sum = 0;
    int stage = 0;
    for (int64_t start = 0; start < k; start += 16) {
        if (start + 16 < k) {
            left[1 - stage][y][x] = a[i * k + start + 16 + x];
            right[1 - stage][y][x] = b[(start + 16 + y) * n + j];
        }
        for (int p = 0; p < 16; p++) sum += left[stage][y][p] * right[stage][p][x];
        sycl::group_barrier(item.get_group());
        stage = 1 - stage;
    }
    c[i * n + j] = sum;
}
""",
    ),
    _sycl(
        "row_sum_group",
        (0, 0, 2),
        "one reduction, finished by the group",
        """
KERNEL(1) run(const float* x, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    int64_t row = item.get_group(0), lane = item.get_local_id(0);
    float sum = 0;
    for (int64_t c = lane; c < cols; c += item.get_local_range(0)) sum += x[row * cols + c];
    sum = sycl::reduce_over_group(item.get_group(), sum, sycl::plus<float>());
    if (lane == 0) y[row] = sum;
}
""",
    ),
    _sycl(
        "row_max_sub_group",
        (0, 0, 2),
        "lanes of a sub-group pass values by shifts",
        """
KERNEL(1) run(const float* x, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    auto sg = item.get_sub_group();
    int64_t row = item.get_group(0);
    float top = -INFINITY;
    for (int64_t c = item.get_local_id(0); c < cols; c += 16) top = sycl::fmax(top, x[row * cols + c]);
    for (int o = 8; o > 0; o /= 2) top = sycl::fmax(top, sycl::shift_group_left(sg, top, o));
    if (item.get_local_id(0) == 0) y[row] = top;
}
""",
    ),
    _sycl(
        "row_sum_local_tree",
        (0, 0, 1),
        "the local array of a tree of sums is coordination, no tile",
        """
using Sums = float[64];
KERNEL(1) run(const float* x, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    static syclexp::work_group_static<Sums> for_sums;
    Sums& sums = for_sums;
    int64_t t = item.get_local_id(0), row = item.get_group(0);
    float sum = 0;
    for (int64_t c = t; c < cols; c += 64) sum += x[row * cols + c];
    sums[t] = sum;
    for (int s = 32; s > 0; s >>= 1) {
        sycl::group_barrier(item.get_group());
        if (t < s) sums[t] += sums[t + s];
    }
    if (t == 0) y[row] = sums[0];
}
""",
        True,
    ),
    _sycl(
        "softmax_group",
        (0, 1, 2),
        "a maximum and a sum in one kernel, then used",
        """
KERNEL(1) run(const float* x, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    auto group = item.get_group();
    const float* a = x + item.get_group(0) * cols;
    int64_t lane = item.get_local_id(0), lanes = item.get_local_range(0);
    float top = -INFINITY, total = 0;
    for (int64_t c = lane; c < cols; c += lanes) top = sycl::fmax(top, a[c]);
    top = sycl::reduce_over_group(group, top, sycl::maximum<float>());
    for (int64_t c = lane; c < cols; c += lanes) total += sycl::exp(a[c] - top);
    total = sycl::reduce_over_group(group, total, sycl::plus<float>());
    for (int64_t c = lane; c < cols; c += lanes) y[item.get_group(0) * cols + c] = sycl::exp(a[c] - top) / total;
}
""",
    ),
    _sycl(
        "softmax_online",
        (0, 2, 0),
        "the sum is corrected as the maximum grows, a row a work-item",
        """
KERNEL(1) run(const float* x, float* y, int64_t rows, int64_t cols) {
    int64_t row = get_nd_item<1>().get_global_id(0);
    if (row >= rows) return;
    const float* a = x + row * cols;
    float top = -INFINITY, total = 0;
    for (int64_t c = 0; c < cols; c++) {
        float higher = sycl::fmax(top, a[c]);
        total = total * sycl::exp(top - higher) + sycl::exp(a[c] - higher);
        top = higher;
    }
    for (int64_t c = 0; c < cols; c++) y[row * cols + c] = sycl::exp(a[c] - top) / total;
}
""",
    ),
    _sycl(
        "variance_welford",
        (0, 2, 0),
        "squares are corrected as the mean changes",
        """
KERNEL(1) run(const float* x, float* y, int64_t rows, int64_t cols) {
    int64_t row = get_nd_item<1>().get_global_id(0);
    if (row >= rows) return;
    float mean = 0, squares = 0;
    for (int64_t c = 0; c < cols; c++) {
        float value = x[row * cols + c], gap = value - mean;
        mean += gap / (c + 1);
        squares += gap * (value - mean);
    }
    y[row] = squares / cols;
}
""",
    ),
    _sycl(
        "layernorm_group",
        (0, 1, 2),
        "a mean, squares about it, then weights; collectives of the group",
        """
KERNEL(1) run(const float* x, const float* w, const float* b, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    auto group = item.get_group();
    int64_t start = item.get_group(0) * cols, lane = item.get_local_id(0), lanes = item.get_local_range(0);
    float sum = 0, squares = 0;
    for (int64_t c = lane; c < cols; c += lanes) sum += x[start + c];
    float mean = sycl::reduce_over_group(group, sum, sycl::plus<float>()) / cols;
    for (int64_t c = lane; c < cols; c += lanes) squares += (x[start + c] - mean) * (x[start + c] - mean);
    float scale = sycl::rsqrt(sycl::reduce_over_group(group, squares, sycl::plus<float>()) / cols + 1e-5f);
    for (int64_t c = lane; c < cols; c += lanes) y[start + c] = (x[start + c] - mean) * scale * w[c] + b[c];
}
""",
    ),
    _sycl(
        "sum_atomic",
        (0, 0, 3),
        "groups add to one place in main memory",
        """
KERNEL(1) run(const float* x, float* y, int64_t n) {
    auto item = get_nd_item<1>();
    float sum = 0;
    for (int64_t i = item.get_global_id(0); i < n; i += item.get_global_range(0)) sum += x[i];
    sum = sycl::reduce_over_group(item.get_group(), sum, sycl::plus<float>());
    if (item.get_local_id(0) == 0) {
        sycl::atomic_ref<float, sycl::memory_order::relaxed, sycl::memory_scope::device> total(y[0]);
        total.fetch_add(sum);
    }
}
""",
    ),
    _sycl(
        "histogram_local_bins",
        (2, 0, 3),
        "bins gathered in local memory, then added to main memory by atomics",
        """
using Bins = int[256];
KERNEL(1) run(const int* x, int* y, int64_t n) {
    auto item = get_nd_item<1>();
    static syclexp::work_group_static<Bins> for_bins;
    Bins& bins = for_bins;
    int64_t t = item.get_local_id(0);
    for (int64_t b = t; b < 256; b += item.get_local_range(0)) bins[b] = 0;
    sycl::group_barrier(item.get_group());
    for (int64_t i = item.get_global_id(0); i < n; i += item.get_global_range(0))
        sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::work_group>(bins[x[i]]).fetch_add(1);
    sycl::group_barrier(item.get_group());
    for (int64_t b = t; b < 256; b += item.get_local_range(0))
        sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::device>(y[b]).fetch_add(bins[b]);
}
""",
    ),
    _sycl(
        "matmul_joint_matrix",
        (2, 3, 1),
        "the matrix engine; its tile in registers; a sub-group works together",
        """
using namespace sycl::ext::oneapi::experimental::matrix;
using sycl::ext::oneapi::bfloat16;
KERNEL(2) run(bfloat16* a, bfloat16* b, float* c, int64_t k, int64_t n) {
    auto item = get_nd_item<2>();
    auto sg = item.get_sub_group();
    joint_matrix<sycl::sub_group, bfloat16, use::a, 8, 16, layout::row_major> left;
    joint_matrix<sycl::sub_group, bfloat16, use::b, 16, 16, layout::row_major> right;
    joint_matrix<sycl::sub_group, float, use::accumulator, 8, 16> sums;
    joint_matrix_fill(sg, sums, 0.0f);
    for (int64_t p = 0; p < k; p += 16) {
        joint_matrix_load(sg, left, sycl::global_ptr<bfloat16>(a + item.get_group(0) * 8 * k + p), k);
        joint_matrix_load(sg, right, sycl::global_ptr<bfloat16>(b + p * n + item.get_group(1) * 16), n);
        joint_matrix_mad(sg, sums, left, right, sums);
    }
    joint_matrix_store(sg, sums, sycl::global_ptr<float>(c + item.get_group(0) * 8 * n + item.get_group(1) * 16), n,
                       layout::row_major);
}
""",
    ),
    _sycl(
        "cumsum_scan",
        (0, 2, 2),
        "a parallel scan by the group",
        """
KERNEL(1) run(const float* x, float* y, int64_t cols) {
    auto item = get_nd_item<1>();
    auto group = item.get_group();
    int64_t lane = item.get_local_id(0), lanes = item.get_local_range(0), start = item.get_group(0) * cols;
    float before = 0;
    for (int64_t c = 0; c < cols; c += lanes) {
        float v = c + lane < cols ? x[start + c + lane] : 0.0f;
        float up_to = sycl::inclusive_scan_over_group(group, v, sycl::plus<float>());
        if (c + lane < cols) y[start + c + lane] = before + up_to;
        before += sycl::group_broadcast(group, up_to, lanes - 1);
    }
}
""",
    ),
    _sycl(
        "transpose_local_tile",
        (2, 0, 1),
        "a tile turned in local memory",
        """
using Tile = float[16][17];
KERNEL(2) run(const float* x, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<2>();
    static syclexp::work_group_static<Tile> for_tile;
    Tile& tile = for_tile;
    int64_t r = item.get_global_id(0), c = item.get_global_id(1), ly = item.get_local_id(0), lx = item.get_local_id(1);
    tile[ly][lx] = x[r * cols + c];
    sycl::group_barrier(item.get_group());
    y[(item.get_group(1) * 16 + ly) * rows + item.get_group(0) * 16 + lx] = tile[lx][ly];
}
""",
    ),
    _sycl(
        "linear_gelu",
        (0, 1, 0),
        "a product, its bias and its activation in one kernel",
        """
KERNEL(2) run(const float* x, const float* w, const float* bias, float* y, int64_t inner, int64_t outer) {
    auto item = get_nd_item<2>();
    int64_t i = item.get_global_id(0), j = item.get_global_id(1);
    float sum = 0;
    for (int64_t p = 0; p < inner; p++) sum += x[i * inner + p] * w[j * inner + p];
    sum += bias[j];
    y[i * outer + j] = 0.5f * sum * (1.0f + sycl::erf(sum * 0.70710678f));
}
""",
    ),
    _sycl(
        "sum_two_launches",
        (0, 0, 3),
        "groups leave sums in memory, a second launch adds them up",
        """
KERNEL(1) partial(const float* x, float* parts, int64_t n) {
    auto item = get_nd_item<1>();
    float sum = 0;
    for (int64_t i = item.get_global_id(0); i < n; i += item.get_global_range(0)) sum += x[i];
    parts[item.get_global_id(0)] = sum;
}
KERNEL(1) finish(const float* parts, float* y, int64_t count) {
    float total = 0;
    for (int64_t i = 0; i < count; i++) total += parts[i];
    y[0] = total;
}
""",
        calls=(
            "parts = torch.empty(1024)",
            "lib.partial[(1024,), (16,)](x, parts, x.numel())",
            "lib.finish[(1,), (1,)](parts, y, 1024)",
        ),
    ),
    _sycl(
        "rmsnorm_groups_that_stay",
        (0, 1, 3),
        "groups take row after row",
        """
KERNEL(1) run(const float* x, const float* w, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<1>();
    int64_t lane = item.get_local_id(0), lanes = item.get_local_range(0);
    for (int64_t row = item.get_group(0); row < rows; row += item.get_group_range(0)) {
        float squares = 0;
        for (int64_t c = lane; c < cols; c += lanes) squares += x[row * cols + c] * x[row * cols + c];
        squares = sycl::reduce_over_group(item.get_group(), squares, sycl::plus<float>());
        float scale = sycl::rsqrt(squares / cols + 1e-6f);
        for (int64_t c = lane; c < cols; c += lanes) y[row * cols + c] = x[row * cols + c] * scale * w[c];
    }
}
""",
    ),
    _sycl(
        "attention_in_one_pass",
        (2, 3, 0),
        "a vector of sums rescaled as scores come, a query a work-item",
        """
constexpr int WIDTH = 32;
KERNEL(1) run(const float* q, const float* k, const float* v, float* y, int64_t length) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    if (i >= length) return;
    float acc[WIDTH] = {}, top = -INFINITY, total = 0;
    for (int64_t j = 0; j < length; j++) {
        float score = 0;
        for (int e = 0; e < WIDTH; e++) score += q[i * WIDTH + e] * k[j * WIDTH + e];
        float higher = sycl::fmax(top, score), fade = sycl::exp(top - higher), share = sycl::exp(score - higher);
        total = total * fade + share;
        for (int d = 0; d < WIDTH; d++) acc[d] = acc[d] * fade + share * v[j * WIDTH + d];
        top = higher;
    }
    for (int d = 0; d < WIDTH; d++) y[i * WIDTH + d] = acc[d] / total;
}
""",
    ),
    _sycl(
        "hadamard_in_local_memory",
        (2, 3, 1),
        "butterflies over a row held in local memory",
        """
using Row = float[512];
KERNEL(1) run(const float* x, float* y) {
    auto item = get_nd_item<1>();
    static syclexp::work_group_static<Row> for_row;
    Row& row = for_row;
    int64_t t = item.get_local_id(0), start = item.get_group(0) * 512;
    row[t] = x[start + t];
    row[t + 256] = x[start + t + 256];
    for (int half = 1; half < 512; half *= 2) {
        sycl::group_barrier(item.get_group());
        int64_t at = t / half * 2 * half + t % half;
        float a = row[at], b = row[at + half];
        row[at] = a + b;
        row[at + half] = a - b;
    }
    sycl::group_barrier(item.get_group());
    y[start + t] = row[t];
    y[start + t + 256] = row[t + 256];
}
""",
    ),
    _sycl(
        "relu_over_two_dimensions",
        (0, 0, 0),
        "a launch of two dimensions is no tiling",
        """
KERNEL(2) run(const float* x, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<2>();
    int64_t r = item.get_global_id(0), c = item.get_global_id(1);
    if (r < rows && c < cols) y[r * cols + c] = sycl::fmax(x[r * cols + c], 0.0f);
}
""",
        True,
        ("lib.run[(64, 64), (1, 16)](x, y, *sizes)",),
    ),
    _sycl(
        "comments_promise_everything",
        (0, 0, 0),
        "what is in comments is not there",
        """
// local tiles, prefetch, sub-group shuffles: sycl::shift_group_left(sg, v, 1); joint_matrix_mad(...)
/* sycl::group_barrier(group); sycl::atomic_ref<float> total(y[0]); online softmax; register tile acc[8][8] */
KERNEL(1) run(const float* x, float* y, int64_t n) {
    int64_t i = get_nd_item<1>().get_global_id(0);
    if (i < n) y[i] = sycl::tanh(x[i]);  // sycl::vec<float, 8> loads
}
""",
        True,
    ),
    _sycl(
        "names_promise_everything",
        (0, 0, 0),
        "names of variables and functions are not what they say",
        """
static float reduce_over_sub_group(float tile) { return tile * 2.0f; }
static float group_barrier_prefetch(float v) { return reduce_over_sub_group(v) - 1.0f; }
KERNEL(1) run(const float* x, float* y, int64_t n) {
    int64_t sub_group_id = get_nd_item<1>().get_global_id(0);
    float slm_tile = 1.0f;
    if (sub_group_id < n) y[sub_group_id] = group_barrier_prefetch(x[sub_group_id]) + slm_tile;
}
""",
        True,
    ),
    _sycl(
        "a_tiled_kernel_never_launched",
        (0, 0, 0),
        "only what is launched counts",
        """
using Tile = float[16][17];
KERNEL(2) turned(const float* x, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<2>();
    static syclexp::work_group_static<Tile> for_tile;
    Tile& tile = for_tile;
    tile[item.get_local_id(0)][item.get_local_id(1)] = x[item.get_global_id(0) * cols + item.get_global_id(1)];
    sycl::group_barrier(item.get_group());
    y[item.get_global_id(1) * rows + item.get_global_id(0)] = tile[item.get_local_id(1)][item.get_local_id(0)];
}
KERNEL(2) run(const float* x, float* y, int64_t rows, int64_t cols) {
    auto item = get_nd_item<2>();
    y[item.get_global_id(1) * rows + item.get_global_id(0)] = x[item.get_global_id(0) * cols + item.get_global_id(1)];
}
""",
        True,
    ),
    _sycl(
        "local_array_without_reuse",
        (0, 0, 1),
        "each work-item reads back what it wrote: a barrier, but no tile",
        """
using Line = float[64];
KERNEL(1) run(const float* x, float* y, int64_t n) {
    auto item = get_nd_item<1>();
    static syclexp::work_group_static<Line> for_line;
    Line& line = for_line;
    int64_t i = item.get_global_id(0), t = item.get_local_id(0);
    line[t] = x[i];
    sycl::group_barrier(item.get_group());
    y[i] = line[t] * line[t];
}
""",
        True,
    ),
    _sycl(
        "a_dead_branch",
        (0, 0, 0),
        "a branch that is switched off, by the preprocessor and by a constant",
        """
constexpr bool SUB_GROUPS = false;
KERNEL(1) run(const float* x, float* y, int64_t n) {
    auto item = get_nd_item<1>();
    int64_t i = item.get_global_id(0);
    float v = i < n ? x[i] : 0.0f;
    if (SUB_GROUPS) v = sycl::reduce_over_group(item.get_sub_group(), v, sycl::plus<float>());
#ifdef USE_ATOMICS
    sycl::atomic_ref<float, sycl::memory_order::relaxed, sycl::memory_scope::device>(y[0]).fetch_add(v);
#else
    if (i < n) y[i] = v + 1.0f;
#endif
}
""",
        True,
    ),
]
