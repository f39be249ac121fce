"""Kernels in other hands' styles, labelled and measured after the rules were settled:
12 of these 14 were right at first sight."""

from tests.archive_labels import Labelled, candidate

KERNELS = {
    "cpp": [
        Labelled(
            "largest_by_simd_clause",
            (1, 0, 2),
            "the author asks for vectors, whose lanes are combined; one reduction",
            candidate(
                "cpp",
                r"""
#include <cmath>
extern "C" void run(const float* x, float* y, long n) {
    float s = 0;
    #pragma omp simd reduction(max : s)
    for (long i = 0; i < n; ++i) s = std::max(s, std::fabs(x[i]));
    y[0] = s;
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "conv2d_packed_columns",
            (2, 1, 1),
            "a packed panel gone over by every filter; bias and activation before the store",
            candidate(
                "cpp",
                r"""
#include <vector>
#include <algorithm>
extern "C" void run(const float* x, const float* w, const float* bias, float* y, int C, int H, int W, int F) {
    #pragma omp parallel for
    for (int h = 0; h < H - 2; h++) {
        std::vector<float> cols(C * 9 * (W - 2));
        for (int c = 0; c < C; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
            for (int q = 0; q < W - 2; q++) cols[((c * 3 + r) * 3 + s) * (W - 2) + q] = x[(c * H + h + r) * W + q + s];
        for (int f = 0; f < F; f++)
            for (int q = 0; q < W - 2; q++) {
                float sum = bias[f];
                for (int t = 0; t < C * 9; t++) sum += w[f * C * 9 + t] * cols[t * (W - 2) + q];
                y[(f * (H - 2) + h) * (W - 2) + q] = sum > 0.f ? sum : 0.01f * sum;
            }
    }
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "sum_under_a_lock",
            (0, 0, 3),
            "threads add to one place under a lock",
            candidate(
                "cpp",
                r"""
#include <mutex>
#include <thread>
#include <vector>
static std::mutex guard;
static void part(const float* x, long a, long b, double* total) {
    double s = 0;
    while (a < b) { s += x[a]; ++a; }
    std::lock_guard<std::mutex> held(guard);
    *total += s;
}
extern "C" void run(const float* x, double* y, long n) {
    std::vector<std::thread> ts;
    for (int i = 0; i < 4; i++) ts.emplace_back(part, x, n * i / 4, n * (i + 1) / 4, y);
    for (auto& t : ts) t.join();
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "max_pool",
            (0, 0, 1),
            "one reduction a window; a team",
            candidate(
                "cpp",
                r"""
extern "C" void run(const float* x, float* y, int n, int h, int w, int k) {
    #pragma omp parallel for collapse(3)
    for (int b = 0; b < n; b++)
        for (int i = 0; i < h / k; i++)
            for (int j = 0; j < w / k; j++) {
                float best = -1e30f;
                for (int a = 0; a < k; a++)
                    for (int c = 0; c < k; c++) {
                        float v = x[(b * h + i * k + a) * w + j * k + c];
                        if (v > best) best = v;
                    }
                y[(b * (h / k) + i) * (w / k) + j] = best;
            }
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
    ],
    "cuda": [
        Labelled(
            "sum_of_squares_half2",
            (1, 0, 2),
            "pairs of halves an access; one sum of squares; a warp reduces through cooperative groups",
            candidate(
                "cuda",
                r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
template <typename T, int VEC>
__global__ void sumsq(const __half* __restrict__ in, float* __restrict__ out, int hidden) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const __half2* v = reinterpret_cast<const __half2*>(in + size_t(blockIdx.x) * hidden);
    float local = 0.f;
#pragma unroll 4
    for (int i = threadIdx.x; i < hidden / 2; i += blockDim.x) {
        float2 f = __half22float2(v[i]);
        local += f.x * f.x + f.y * f.y;
    }
    local = cg::reduce(warp, local, cg::plus<float>());
    if (warp.thread_rank() == 0) out[blockIdx.x] = local;
}
extern "C" void run(const __half* x, float* y, int rows, int hidden, cudaStream_t s) {
    sumsq<__half, 2><<<rows, 32, 0, s>>>(x, y, hidden);
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "conv1d_dynamic_shared",
            (2, 0, 1),
            "a line with its halo in shared memory, read by neighbours",
            candidate(
                "cuda",
                r"""
__constant__ float taps[16];
__global__ void conv1d(const float* x, float* y, int n, int k) {
    extern __shared__ float line[];
    int base = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + k - 1; i += blockDim.x)
        line[i] = (base + i < n) ? x[base + i] : 0.f;
    __syncthreads();
    float acc = 0.f;
    for (int j = 0; j < k; ++j) acc += line[threadIdx.x + j] * taps[j];
    if (base + threadIdx.x < n) y[base + threadIdx.x] = acc;
}
extern "C" void run(const float* x, float* y, int n, int k, cudaStream_t s) {
    conv1d<<<(n + 255) / 256, 256, (256 + k) * 4, s>>>(x, y, n, k);
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "cross_entropy_atomic",
            (0, 1, 3),
            "a maximum, a sum and the target's logit in one kernel; added up by atomics",
            candidate(
                "cuda",
                r"""
__global__ void ce(const float* logits, const long* t, float* loss, int classes, int batch) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    const float* row = logits + b * classes;
    float mx = row[0];
    for (int c = 1; c < classes; ++c) mx = max(mx, row[c]);
    float se = 0.f;
    for (int c = 0; c < classes; ++c) se += __expf(row[c] - mx);
    atomicAdd(loss, (logf(se) + mx - row[t[b]]) / batch);
}
extern "C" void run(const float* x, const long* t, float* y, int classes, int batch, cudaStream_t s) {
    ce<<<(batch + 127) / 128, 128, 0, s>>>(x, t, y, classes, batch);
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
        Labelled(
            "matmul_divided_shared_memory",
            (3, 0, 1),
            "shared memory divided by pointers feeds a tile of sums; the pointers move along",
            candidate(
                "cuda",
                r"""
template <int BM, int BN, int BK, int TM, int TN>
__global__ void sgemm(int M, int N, int K, const float* A, const float* B, float* C) {
    extern __shared__ float smem[];
    float* sA = smem;
    float* sB = smem + BM * BK;
    float acc[TM * TN] = {0.f};
    float ra[TM], rb[TN];
    A += blockIdx.y * BM * K; B += blockIdx.x * BN;
    const int tr = threadIdx.x / (BN / TN), tc = threadIdx.x % (BN / TN);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += blockDim.x) sA[i] = A[(i / BK) * K + i % BK];
        for (int i = threadIdx.x; i < BK * BN; i += blockDim.x) sB[i] = B[(i / BN) * N + i % BN];
        __syncthreads();
        A += BK; B += BK * N;
        for (int d = 0; d < BK; ++d) {
            for (int i = 0; i < TM; ++i) ra[i] = sA[(tr * TM + i) * BK + d];
            for (int j = 0; j < TN; ++j) rb[j] = sB[d * BN + tc * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i * TN + j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
            C[(blockIdx.y * BM + tr * TM + i) * N + blockIdx.x * BN + tc * TN + j] = acc[i * TN + j];
}
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t s) {
    sgemm<64, 64, 8, 4, 4><<<dim3(n / 64, m / 64), 256, 4096, s>>>(m, n, k, a, b, c);
}
""",
                "lib.run(x, y, *sizes)",
            ),
        ),
    ],
    "sycl": [
        Labelled(
            "dot_sub_group",
            (0, 0, 2),
            "lanes pass values by exclusive or; one reduction",
            candidate(
                "sycl",
                r"""
#include <sycl/sycl.hpp>
namespace exp_ = sycl::ext::oneapi::experimental;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((exp_::nd_range_kernel<1>))
void run(const float* a, const float* b, float* y, int n) {
    auto it = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    auto sg = it.get_sub_group();
    float acc = 0.f;
    for (int i = it.get_local_linear_id(); i < n; i += it.get_local_range(0)) acc = sycl::fma(a[i], b[i], acc);
    for (int m = sg.get_local_range()[0] / 2; m > 0; m >>= 1) acc += sycl::permute_group_by_xor(sg, acc, m);
    if (it.get_local_linear_id() == 0) y[0] = acc;
}
""",
                "lib.run[(1024,), (16,)](x, y, *sizes)",
            ),
        ),
        Labelled(
            "l2_normalise",
            (0, 1, 0),
            "a sum of squares scales the row it came from",
            candidate(
                "sycl",
                r"""
#include <sycl/sycl.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void run(const float* x, float* y, int rows, int cols) {
    int r = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id();
    if (r < rows) {
        float ss = 0.f;
        for (int c = 0; c < cols; ++c) ss += x[r * cols + c] * x[r * cols + c];
        float inv = sycl::native::rsqrt(ss);
        for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * inv;
    }
}
""",
                "lib.run[(1024,), (16,)](x, y, *sizes)",
            ),
        ),
        Labelled(
            "stencil_local_line",
            (2, 0, 1),
            "a line with its halo in local memory declared at the top of the file",
            candidate(
                "sycl",
                r"""
#include <sycl/sycl.hpp>
#include <sycl/ext/oneapi/work_group_static.hpp>
namespace exp_ = sycl::ext::oneapi::experimental;
static exp_::work_group_static<float[130]> halo;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((exp_::nd_range_kernel<1>))
void run(const float* x, float* y, int n) {
    auto it = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    int l = it.get_local_id(0), g = it.get_global_id(0);
    auto& line = *&halo;
    line[l + 1] = x[g];
    if (l == 0) line[0] = g > 0 ? x[g - 1] : 0.f;
    if (l == 127) line[129] = g + 1 < n ? x[g + 1] : 0.f;
    sycl::group_barrier(it.get_group());
    y[g] = (line[l] + line[l + 1] + line[l + 2]) / 3.f;
}
""",
                "lib.run[(1024,), (16,)](x, y, *sizes)",
            ),
        ),
    ],
    "triton": [
        Labelled(
            "rmsnorm_row",
            (0, 1, 2),
            "a sum of squares scales the row, with weights",
            r"""import torch, triton
import triton.language as tl

@triton.jit
def k(X, W, Y, stride, N, eps, B: tl.constexpr):
    pid = tl.program_id(0)
    X += pid * stride
    cols = tl.arange(0, B)
    m = cols < N
    x = tl.load(X + cols, mask=m, other=0.).to(tl.float32)
    var = tl.sum(x * x) / N
    r = 1 / tl.sqrt(var + eps)
    w = tl.load(W + cols, mask=m)
    tl.store(Y + pid * stride + cols, x * r * w, mask=m)
class ModelNew(torch.nn.Module):
    def forward(self, x, w):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, w, y, x.stride(0), x.shape[1], 1e-6, B=1024)
        return y
""",
        ),
        Labelled(
            "matmul_block_pointers_grouped",
            (2, 3, 1),
            "tiles through the matrix engine, in grouped order",
            r"""import torch, triton
import triton.language as tl

@triton.jit
def act(v):
    return tl.where(v >= 0, v, 0.01 * v)
@triton.jit
def gemm(A, B, C, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(axis=0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    gid = pid // (G * nn)
    first = gid * G
    gs = min(nm - first, G)
    pm = first + ((pid % (G * nn)) % gs)
    pn = (pid % (G * nn)) // gs
    a_bp = tl.make_block_ptr(A, (M, K), (sa, 1), (pm * BM, 0), (BM, BK), (1, 0))
    b_bp = tl.make_block_ptr(B, (K, N), (sb, 1), (0, pn * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_bp); b = tl.load(b_bp)
        acc = tl.dot(a, b, acc)
        a_bp = tl.advance(a_bp, (0, BK)); b_bp = tl.advance(b_bp, (BK, 0))
    c_bp = tl.make_block_ptr(C, (M, N), (sc, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(c_bp, act(acc))
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1], device=a.device)
        gemm[(64,)](a, b, c, *a.shape, b.shape[1], a.stride(0), b.stride(0), c.stride(0), BM=64, BN=64, BK=32, G=8)
        return c
""",
        ),
        Labelled(
            "moments_by_blocks",
            (0, 2, 2),
            "squares are corrected as the mean changes, block by block",
            r"""import torch, triton
import triton.language as tl

@triton.jit
def bn(X, MEAN, VAR, N, B: tl.constexpr):
    c = tl.program_id(0)
    mean = 0.0
    m2 = 0.0
    cnt = 0.0
    for s in range(0, N, B):
        o = s + tl.arange(0, B)
        x = tl.load(X + c * N + o, mask=o < N, other=0.0)
        bm = tl.sum(x) / B
        bv = tl.sum((x - bm) * (x - bm))
        d = bm - mean
        tot = cnt + B
        m2 += bv + d * d * cnt * B / tot
        mean += d * B / tot
        cnt = tot
    tl.store(MEAN + c, mean)
    tl.store(VAR + c, m2 / N)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        mean = torch.empty(x.shape[0]); var = torch.empty(x.shape[0])
        bn[(x.shape[0],)](x, mean, var, x.shape[1], B=1024)
        return mean
""",
        ),
    ],
}
