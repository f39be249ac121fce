"""CUDA for NVIDIA GPUs."""

from tests.archive_labels import Labelled, candidate


def _cuda(name: str, cell: tuple[int, int, int], why: str, text: str, trap: bool = False) -> Labelled:
    return Labelled(name, cell, why, candidate("cuda", text, "lib.run(x, y, *sizes)"), trap)


_LAUNCH = """
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<rows, 256, 0, stream>>>(x, y, cols);
}
"""
_MATMUL = """
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3((n + 63) / 64, (m + 63) / 64), 256, 0, stream>>>(a, b, c, m, n, k);
}
"""
_SIXTEEN = """
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3(n / 16, m / 16), dim3(16, 16), 0, stream>>>(a, b, c, m, n, k);
}
"""

KERNELS = [
    _cuda(
        "relu",
        (0, 0, 0),
        "a map, an element a thread",
        """
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "relu_float4",
        (1, 0, 0),
        "four floats an access",
        """
__global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        v.x = fmaxf(v.x, 0.0f); v.y = fmaxf(v.y, 0.0f); v.z = fmaxf(v.z, 0.0f); v.w = fmaxf(v.w, 0.0f);
        reinterpret_cast<float4*>(y)[i] = v;
    }
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "silu_read_only_path",
        (1, 0, 0),
        "loads with a hint; a grid-stride loop over elements coordinates nothing",
        """
__global__ void kernel(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = __ldg(x + i);
        y[i] = v / (1.0f + expf(-v));
    }
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "matmul_element_a_thread",
        (0, 0, 0),
        "a product as the formula says it, straight from main memory",
        """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; p++) sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
"""
        + _SIXTEEN,
    ),
    _cuda(
        "matmul_shared_tiles",
        (2, 0, 1),
        "tiles in shared memory; `As[16][16]` is shared and no tile of registers",
        """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int p0 = 0; p0 < k; p0 += 16) {
        As[ty][tx] = a[row * k + p0 + tx];
        Bs[ty][tx] = b[(p0 + ty) * n + col];
        __syncthreads();
        for (int p = 0; p < 16; p++) sum += As[ty][p] * Bs[p][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
"""
        + _SIXTEEN,
        True,
    ),
    _cuda(
        "matmul_shared_and_register_tiles",
        (3, 0, 1),
        "shared tiles feed a tile of sums in registers",
        """
#define BM 64
#define BN 64
#define BK 8
#define TM 4
#define TN 4
__global__ void __launch_bounds__(256) matmul(const float* __restrict__ a, const float* __restrict__ b,
                                              float* __restrict__ c, int m, int n, int k) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    int t = threadIdx.x, tr = t / 16 * TM, tc = t % 16 * TN;
    float acc[TM][TN] = {{0.0f}};
    for (int p0 = 0; p0 < k; p0 += BK) {
        float4 left = *reinterpret_cast<const float4*>(&a[(blockIdx.y * BM + t / 4) * k + p0 + t % 4 * 2]);
        As[t % 4 * 2][t / 4] = left.x;
        As[t % 4 * 2 + 1][t / 4] = left.y;
        Bs[t / 64][t % 64] = b[(p0 + t / 64) * n + blockIdx.x * BN + t % 64];
        Bs[t / 64 + 4][t % 64] = b[(p0 + t / 64 + 4) * n + blockIdx.x * BN + t % 64];
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < BK; p++)
            #pragma unroll
            for (int i = 0; i < TM; i++)
                #pragma unroll
                for (int j = 0; j < TN; j++) acc[i][j] = fmaf(As[p][tr + i], Bs[p][tc + j], acc[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) c[(blockIdx.y * BM + tr + i) * n + blockIdx.x * BN + tc + j] = acc[i][j];
}
"""
        + _MATMUL,
    ),
    _cuda(
        "matmul_register_tile_alone",
        (2, 0, 0),
        "four sums a thread share the right factor; nothing is shared between threads",
        """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < k; p++) {
        float right = b[p * n + col];
        for (int i = 0; i < 4; i++) acc[i] += a[(row + i) * k + p] * right;
    }
    for (int i = 0; i < 4; i++) c[(row + i) * n + col] = acc[i];
}
"""
        + _SIXTEEN,
    ),
    _cuda(
        "matmul_cp_async",
        (3, 0, 1),
        "tiles filled by asynchronous copies while the others are in use",
        """
__device__ __forceinline__ void fetch(float* to, const float* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\\n" ::"r"(at), "l"(from));
}
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float As[2][16][16], Bs[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, stage = 0;
    float sum = 0.0f;
    fetch(&As[0][ty][tx], a + row * k + tx);
    fetch(&Bs[0][ty][tx], b + ty * n + col);
    asm volatile("cp.async.commit_group;\\n");
    for (int p0 = 0; p0 < k; p0 += 16, stage ^= 1) {
        asm volatile("cp.async.wait_group 0;\\n");
        __syncthreads();
        if (p0 + 16 < k) {
            fetch(&As[stage ^ 1][ty][tx], a + row * k + p0 + 16 + tx);
            fetch(&Bs[stage ^ 1][ty][tx], b + (p0 + 16 + ty) * n + col);
            asm volatile("cp.async.commit_group;\\n");
        }
        for (int p = 0; p < 16; p++) sum += As[stage][ty][p] * Bs[stage][p][tx];
    }
    c[row * n + col] = sum;
}
"""
        + _SIXTEEN,
    ),
    _cuda(
        "stencil_pipeline_memcpy",
        (3, 0, 1),
        "a tile filled by the asynchronous copy of the pipeline interface",
        """
#include <cuda_pipeline.h>
__global__ void kernel(const float* x, float* y, int n) {
    __shared__ float tile[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    __pipeline_memcpy_async(&tile[t + 1], x + i, sizeof(float));
    if (t == 0) __pipeline_memcpy_async(&tile[0], x + i - 1, sizeof(float));
    if (t == 255) __pipeline_memcpy_async(&tile[257], x + i + 1, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[i] = 0.25f * tile[t] + 0.5f * tile[t + 1] + 0.25f * tile[t + 2];
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "matmul_double_buffer",
        (3, 0, 1),
        "two halves of a shared tile, one filled while the other is in use",
        """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float As[2][16][17], Bs[2][16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    As[0][ty][tx] = a[row * k + tx];
    Bs[0][ty][tx] = b[ty * n + col];
    __syncthreads();
    float sum = 0.0f;
    for (int step = 0; step < k / 16; step++) {
        int now = step & 1, next = 1 - now;
        if (step + 1 < k / 16) {
            As[next][ty][tx] = a[row * k + (step + 1) * 16 + tx];
            Bs[next][ty][tx] = b[((step + 1) * 16 + ty) * n + col];
        }
        for (int p = 0; p < 16; p++) sum += As[now][ty][p] * Bs[now][p][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
"""
        + _SIXTEEN,
    ),
    _cuda(
        "matmul_wmma_from_main_memory",
        (2, 3, 1),
        "the matrix engine, its fragments the only tile; a warp works together",
        """
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const half* a, const half* b, float* c, int m, int n, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int p = 0; p < k; p += 16) {
        wmma::load_matrix_sync(left, a + blockIdx.y * 16 * k + p, k);
        wmma::load_matrix_sync(right, b + p * n + blockIdx.x * 16, n);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sums, n, wmma::mem_row_major);
}
extern "C" void run(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3(n / 16, m / 16), 32, 0, stream>>>(a, b, c, m, n, k);
}
""",
    ),
    _cuda(
        "matmul_wmma_from_shared_tiles",
        (3, 3, 1),
        "shared tiles feed the fragments of the matrix engine",
        """
#include <mma.h>
using namespace nvcuda;
__global__ void matmul(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ half As[64][16];
    __shared__ half Bs[16][64];
    int t = threadIdx.x, warp = t / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(sums[j], 0.0f);
    for (int p = 0; p < k; p += 16) {
        for (int i = t; i < 1024; i += 128) {
            As[i / 16][i % 16] = a[(blockIdx.y * 64 + i / 16) * k + p + i % 16];
            Bs[i / 64][i % 64] = b[(p + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::load_matrix_sync(left, &As[warp * 16][0], 16);
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
            wmma::load_matrix_sync(right, &Bs[0][j * 16], 64);
            wmma::mma_sync(sums[j], left, right, sums[j]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(c + (blockIdx.y * 64 + warp * 16) * n + blockIdx.x * 64 + j * 16, sums[j], n,
                                wmma::mem_row_major);
}
extern "C" void run(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3(n / 64, m / 64), 128, 0, stream>>>(a, b, c, m, n, k);
}
""",
    ),
    _cuda(
        "matmul_wgmma_tma",
        (3, 3, 1),
        "Hopper: tiles by TMA behind an mbarrier, products by wgmma",
        """
#include <cuda.h>
#include <cuda_bf16.h>
#include <cstdint>
__device__ uint64_t describe(const void* p) {
    uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    return ((uint64_t)(at & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ void bring(void* to, const CUtensorMap* map, int col, int row, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];"
                 ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(map), "r"((uint32_t)__cvta_generic_to_shared(bar)),
                 "r"(col), "r"(row) : "memory");
}
__device__ void await(uint64_t* bar, int phase) {
    asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L;}"
                 ::"r"((uint32_t)__cvta_generic_to_shared(bar)), "r"(phase));
}
__global__ void matmul(const __grid_constant__ CUtensorMap left, const __grid_constant__ CUtensorMap right, float* c,
                       int n, int k) {
    __shared__ alignas(1024) __nv_bfloat16 As[64 * 64];
    __shared__ alignas(1024) __nv_bfloat16 Bs[64 * 64];
    __shared__ uint64_t bar;
    float d[32] = {};
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    __syncthreads();
    for (int p = 0, phase = 0; p < k; p += 64, phase ^= 1) {
        if (threadIdx.x == 0) {
            bring(As, &left, p, blockIdx.y * 64, &bar);
            bring(Bs, &right, blockIdx.x * 64, p, &bar);
        }
        await(&bar, phase);
        asm volatile("wgmma.fence.sync.aligned;");
        asm volatile("{wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1}, %2, %3, 1, 1, 1, 0, 1;}"
                     : "+f"(d[0]), "+f"(d[1]) : "l"(describe(As)), "l"(describe(Bs)));
        asm volatile("wgmma.commit_group.sync.aligned;");
        asm volatile("wgmma.wait_group.sync.aligned 0;");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) c[(blockIdx.y * 64 + threadIdx.x / 4) * n + blockIdx.x * 64 + i] = d[i];
}
extern "C" void run(const CUtensorMap* maps, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3(n / 64, m / 64), 128, 0, stream>>>(maps[0], maps[1], c, n, k);
}
""",
    ),
    _cuda(
        "matmul_ptx_mma",
        (3, 3, 1),
        "mma.sync in assembly, its factors from shared tiles by ldmatrix",
        """
#include <cuda_fp16.h>
#include <cstdint>
__global__ void matmul(const half* a, const half* b, float* c, int n, int k) {
    __shared__ half As[16][16], Bs[8][16];
    int lane = threadIdx.x;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (int p = 0; p < k; p += 16) {
        for (int i = lane; i < 256; i += 32) As[i / 16][i % 16] = a[(blockIdx.y * 16 + i / 16) * k + p + i % 16];
        for (int i = lane; i < 128; i += 32) Bs[i / 16][i % 16] = b[(blockIdx.x * 8 + i / 16) * k + p + i % 16];
        __syncwarp();
        uint32_t l0, l1, l2, l3, r0, r1;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(l0), "=r"(l1), "=r"(l2), "=r"(l3)
                     : "r"((uint32_t)__cvta_generic_to_shared(&As[lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(r0), "=r"(r1) : "r"((uint32_t)__cvta_generic_to_shared(&Bs[lane % 8][lane / 8 % 2 * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(l0), "r"(l1), "r"(l2), "r"(l3), "r"(r0), "r"(r1));
        __syncwarp();
    }
    float* to = c + (blockIdx.y * 16 + lane / 4) * n + blockIdx.x * 8 + lane % 4 * 2;
    to[0] = d0; to[1] = d1; to[8 * n] = d2; to[8 * n + 1] = d3;
}
extern "C" void run(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<dim3(n / 8, m / 16), 32, 0, stream>>>(a, b, c, n, k);
}
""",
    ),
    _cuda(
        "row_sum_shared_tree",
        (0, 0, 1),
        "the shared array of a tree of sums is coordination, no tile",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int c = t; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
    sums[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = sums[0];
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "row_max_shared_tree_from_memory",
        (0, 0, 1),
        "as above, though the array is filled straight from main memory",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    extern __shared__ float best[];
    int t = threadIdx.x;
    best[t] = t < cols ? x[blockIdx.x * cols + t] : -3.4e38f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) best[t] = fmaxf(best[t], best[t + s]);
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = best[0];
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "row_sum_shuffles",
        (0, 0, 2),
        "a warp adds up by shuffles",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<rows, 32, 0, stream>>>(x, y, cols);
}
""",
    ),
    _cuda(
        "softmax_block",
        (0, 1, 2),
        "a maximum and a sum in one kernel, by shuffles and a shared array of partial values",
        """
template <bool MAX> __device__ float block_reduce(float v, float* parts) {
    for (int o = 16; o > 0; o >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, v, o);
        v = MAX ? fmaxf(v, other) : v + other;
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int w = 1; w < blockDim.x / 32; w++) v = MAX ? fmaxf(v, parts[w]) : v + parts[w];
    __syncthreads();
    return v;
}
__global__ void kernel(const float* x, float* y, int cols) {
    __shared__ float parts[32];
    const float* row = x + (size_t)blockIdx.x * cols;
    float top = -3.4e38f, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, row[c]);
    top = block_reduce<true>(top, parts);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += __expf(row[c] - top);
    sum = block_reduce<false>(sum, parts);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = __expf(row[c] - top) / sum;
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "softmax_online_warp",
        (0, 2, 2),
        "the sum is corrected as the maximum grows; lanes are merged by shuffles",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    float m = -3.4e38f, s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[blockIdx.x * cols + c];
        if (v > m) {
            s = s * expf(m - v) + 1.0f;
            m = v;
        } else {
            s += expf(v - m);
        }
    }
    for (int o = 16; o > 0; o /= 2) {
        float om = __shfl_xor_sync(~0u, m, o), os = __shfl_xor_sync(~0u, s, o), nm = fmaxf(m, om);
        s = s * expf(m - nm) + os * expf(om - nm);
        m = nm;
    }
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = expf(x[blockIdx.x * cols + c] - m) / s;
}
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<rows, 32, 0, stream>>>(x, y, cols);
}
""",
    ),
    _cuda(
        "sum_atomic",
        (0, 0, 3),
        "blocks add to one place in main memory",
        """
__global__ void kernel(const float* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "histogram_shared_bins",
        (2, 0, 3),
        "bins gathered in shared memory, then added to main memory by atomics",
        """
__global__ void kernel(const float* x, float* y, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&bins[(int)x[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&y[threadIdx.x], (float)bins[threadIdx.x]);
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "bincount_in_one_block",
        (2, 0, 1),
        "atomics on shared memory stay in their group",
        """
__global__ void kernel(const int* x, int* y, int n) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 64) y[threadIdx.x] = bins[threadIdx.x];
}
extern "C" void run(const int* x, int* y, int n, cudaStream_t stream) { kernel<<<1, 1024, 0, stream>>>(x, y, n); }
""",
    ),
    _cuda(
        "mean_grid_barrier",
        (0, 0, 3),
        "all blocks wait for each other, one adds up",
        """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void kernel(const float* x, float* parts, float* y, int n) {
    cg::grid_group grid = cg::this_grid();
    float sum = 0.0f;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
    parts[grid.thread_rank()] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        float total = 0.0f;
        for (int i = 0; i < grid.size(); i++) total += parts[i];
        y[0] = total / n;
    }
}
extern "C" void run(const float* x, float* parts, float* y, int n, cudaStream_t stream) {
    void* given[] = {&x, &parts, &y, &n};
    cudaLaunchCooperativeKernel((void*)kernel, 132, 256, given, 0, stream);
}
""",
    ),
    _cuda(
        "column_sum_two_launches",
        (0, 0, 3),
        "slices leave sums in memory, a second launch adds them up",
        """
__global__ void slices(const float* x, float* parts, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float total = 0.0f;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) total += x[r * cols + col];
    parts[blockIdx.y * cols + col] = total;
}
__global__ void finish(const float* parts, float* y, int count, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float total = 0.0f;
    for (int s = 0; s < count; s++) total += parts[s * cols + col];
    y[col] = total;
}
extern "C" void run(const float* x, float* parts, float* y, int rows, int cols, cudaStream_t stream) {
    slices<<<dim3((cols + 127) / 128, 32), 128, 0, stream>>>(x, parts, rows, cols);
    finish<<<(cols + 127) / 128, 128, 0, stream>>>(parts, y, 32, cols);
}
""",
    ),
    _cuda(
        "softmax_three_launches",
        (0, 0, 0),
        "three kernels, each of one pattern; the second does not add up what the first left",
        """
__global__ void tops(const float* x, float* top, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float m = x[r * cols];
    for (int c = 1; c < cols; c++) m = fmaxf(m, x[r * cols + c]);
    top[r] = m;
}
__global__ void totals(const float* x, const float* top, float* total, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.0f;
    for (int c = 0; c < cols; c++) s += expf(x[r * cols + c] - top[r]);
    total[r] = s;
}
__global__ void divide(const float* x, const float* top, const float* total, float* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) y[i] = expf(x[i] - top[i / cols]) / total[i / cols];
}
extern "C" void run(const float* x, float* top, float* total, float* y, int rows, int cols, cudaStream_t stream) {
    tops<<<(rows + 255) / 256, 256, 0, stream>>>(x, top, rows, cols);
    totals<<<(rows + 255) / 256, 256, 0, stream>>>(x, top, total, rows, cols);
    divide<<<(rows * cols + 255) / 256, 256, 0, stream>>>(x, top, total, y, rows, cols);
}
""",
        True,
    ),
    _cuda(
        "matmul_persistent",
        (2, 0, 3),
        "blocks stay and take tile after tile",
        """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float As[16][17], Bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, tiles = (m / 16) * (n / 16);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int row = tile / (n / 16) * 16 + ty, col = tile % (n / 16) * 16 + tx;
        float sum = 0.0f;
        for (int p0 = 0; p0 < k; p0 += 16) {
            As[ty][tx] = a[row * k + p0 + tx];
            Bs[ty][tx] = b[(p0 + ty) * n + col];
            __syncthreads();
            for (int p = 0; p < 16; p++) sum += As[ty][p] * Bs[p][tx];
            __syncthreads();
        }
        c[row * n + col] = sum;
    }
}
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    matmul<<<264, dim3(16, 16), 0, stream>>>(a, b, c, m, n, k);
}
""",
    ),
    _cuda(
        "cumsum_doubling_steps",
        (0, 2, 1),
        "a parallel scan; its shared array is worked over in place, no tile",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = t < cols ? x[blockIdx.x * cols + t] : 0.0f;
    __syncthreads();
    for (int o = 1; o < blockDim.x; o <<= 1) {
        float v = t >= o ? s[t - o] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t < cols) y[blockIdx.x * cols + t] = s[t];
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "sort_bitonic",
        (2, 3, 1),
        "a sorting network over rows held in shared memory",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    extern __shared__ float row[];
    int t = threadIdx.x;
    row[t] = x[blockIdx.x * cols + t];
    __syncthreads();
    for (int size = 2; size <= cols; size <<= 1)
        for (int stride = size / 2; stride > 0; stride >>= 1) {
            int mate = t ^ stride;
            if (mate > t) {
                bool up = (t & size) == 0;
                float mine = row[t], other = row[mate];
                if ((mine > other) == up) {
                    row[t] = other;
                    row[mate] = mine;
                }
            }
            __syncthreads();
        }
    y[blockIdx.x * cols + t] = row[t];
}
"""
        + _LAUNCH,
    ),
    _cuda(
        "transpose_shared_tile",
        (2, 0, 1),
        "a tile turned in shared memory",
        """
__global__ void kernel(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * cols + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) y[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<dim3(cols / 32, rows / 32), dim3(32, 8), 0, stream>>>(x, y, rows, cols);
}
""",
    ),
    _cuda(
        "attention_in_one_pass",
        (3, 3, 1),
        "keys and values in shared tiles, a vector of sums in registers, rescaled as scores come",
        """
#define WIDTH 64
__global__ void kernel(const float* q, const float* k, const float* v, float* y, int length) {
    __shared__ float ks[32][WIDTH], vs[32][WIDTH];
    int i = blockIdx.x * 32 + threadIdx.x;
    float own[WIDTH], acc[WIDTH] = {}, top = -3.4e38f, total = 0.0f;
    for (int d = 0; d < WIDTH; d++) own[d] = q[i * WIDTH + d];
    for (int j0 = 0; j0 < length; j0 += 32) {
        for (int d = 0; d < WIDTH; d++) {
            ks[threadIdx.x][d] = k[(j0 + threadIdx.x) * WIDTH + d];
            vs[threadIdx.x][d] = v[(j0 + threadIdx.x) * WIDTH + d];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float score = 0.0f;
            for (int d = 0; d < WIDTH; d++) score += own[d] * ks[j][d];
            float higher = fmaxf(top, score), fade = __expf(top - higher), share = __expf(score - higher);
            total = total * fade + share;
            for (int d = 0; d < WIDTH; d++) acc[d] = acc[d] * fade + share * vs[j][d];
            top = higher;
        }
        __syncthreads();
    }
    for (int d = 0; d < WIDTH; d++) y[i * WIDTH + d] = acc[d] / total;
}
extern "C" void run(const float* q, const float* k, const float* v, float* y, int length, cudaStream_t stream) {
    kernel<<<length / 32, 32, 0, stream>>>(q, k, v, y, length);
}
""",
    ),
    _cuda(
        "linear_gelu_shared_tiles",
        (2, 1, 1),
        "tiles, and the activation before the product is written",
        """
__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int p0 = 0; p0 < k; p0 += 16) {
        left[ty][tx] = a[row * k + p0 + tx];
        right[ty][tx] = b[(p0 + ty) * n + col];
        __syncthreads();
        for (int p = 0; p < 16; p++) sum += left[ty][p] * right[p][tx];
        __syncthreads();
    }
    c[row * n + col] = gelu(sum);
}
"""
        + _SIXTEEN,
    ),
    _cuda(
        "row_sum_cluster",
        (0, 0, 3),
        "blocks of a cluster read each other's shared memory",
        """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) kernel(const float* x, float* y, int cols) {
    __shared__ float part;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) part = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int c = cluster.block_rank() * 256 + threadIdx.x; c < cols; c += 1024) sum += x[blockIdx.y * cols + c];
    atomicAdd(&part, sum);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (int b = 0; b < 4; b++) total += *cluster.map_shared_rank(&part, b);
        y[blockIdx.y] = total;
    }
    cluster.sync();
}
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<dim3(4, rows), 256, 0, stream>>>(x, y, cols);
}
""",
    ),
    _cuda(
        "layernorm_two_moments",
        (0, 1, 2),
        "sums of values and of squares in one pass, then used",
        """
__global__ void kernel(const float* x, float* y, int cols) {
    const float* row = x + blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = row[c];
        sum += v;
        squares += v * v;
    }
    for (int o = 16; o > 0; o /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
        squares += __shfl_xor_sync(0xffffffffu, squares, o);
    }
    float mean = sum / cols, scale = rsqrtf(squares / cols - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = (row[c] - mean) * scale;
}
extern "C" void run(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    kernel<<<rows, 32, 0, stream>>>(x, y, cols);
}
""",
    ),
    _cuda(
        "comments_promise_everything",
        (0, 0, 0),
        "what is in comments is not there",
        """
// Vectorised float4 loads, cp.async double buffering, __shfl_xor_sync warp reduction, wmma::mma_sync, atomicAdd(y, 1)
/* __shared__ float tile[32][33]; __syncthreads(); prefetch; online softmax; persistent over gridDim.x */
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tanhf(x[i]);  // fused, flash-style, split-K
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "variables_named_after_warps",
        (0, 0, 0),
        "`warp_id` is a number, not a warp that works together",
        """
__global__ void kernel(const float* x, float* y, int n) {
    int warp_id = threadIdx.x / 32, lane_id = threadIdx.x % 32, warp_tile = blockIdx.x * 8;
    int cluster_rank = (warp_tile + warp_id) * 32 + lane_id;
    float double_buffer_stage = 2.0f;
    if (cluster_rank < n) y[cluster_rank] = x[cluster_rank] * double_buffer_stage;
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "shared_array_without_reuse",
        (0, 0, 1),
        "each thread reads back what it wrote: a barrier, but no tile",
        """
__global__ void kernel(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = tile[threadIdx.x] * 0.5f;
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "a_tensor_core_kernel_never_launched",
        (0, 0, 0),
        "only what is launched counts",
        """
#include <mma.h>
using namespace nvcuda;
__global__ void fast(const half* a, const half* b, float* c, int n, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    for (int p = 0; p < k; p += 16) {
        wmma::load_matrix_sync(left, a + p, k);
        wmma::load_matrix_sync(right, b + p * n, n);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c, sums, n, wmma::mem_row_major);
}
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int p = 0; p < k; p++) sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
"""
        + _SIXTEEN,
        True,
    ),
    _cuda(
        "macros_named_after_intrinsics",
        (0, 0, 0),
        "macros are what they stand for",
        """
#define WARP_SHUFFLE_REDUCE(v) ((v) * 1.0f)
#define CP_ASYNC_PREFETCH(to, from) (to) = (from)
#define SYNC_WARPS()
#define USE_TENSOR_CORES 1
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    if (i >= n) return;
    CP_ASYNC_PREFETCH(v, x[i]);
    SYNC_WARPS();
    y[i] = WARP_SHUFFLE_REDUCE(v);
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "tiles_in_a_dead_branch",
        (0, 0, 0),
        "a branch that a constant rules out, and statements after a return",
        """
constexpr bool TILED = false;
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if constexpr (TILED) {
        __shared__ float tile[258];
        tile[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = tile[threadIdx.x] + tile[threadIdx.x + 1];
    } else {
        if (i < n) y[i] = x[i] + 1.0f;
    }
    return;
    atomicAdd(y, __shfl_down_sync(0xffffffff, x[i], 1));
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "a_message_about_hopper",
        (0, 0, 0),
        "of strings only assembly counts",
        """
#include <cstdio>
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("wgmma.mma_async cp.async.bulk.tensor mbarrier.try_wait atomicAdd __shfl_sync\\n");
    if (i < n) y[i] = x[i] * x[i];
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "barriers_for_nothing",
        (0, 0, 0),
        "nothing is shared, and a shuffle's result is dropped",
        """
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    __syncthreads();
    __shfl_xor_sync(0xffffffffu, v, 1);
    float unused = __shfl_down_sync(0xffffffffu, v, 2);
    __syncthreads();
    if (i < n) y[i] = v + 3.0f;
}
"""
        + _LAUNCH,
        True,
    ),
    _cuda(
        "float4_as_a_mere_structure",
        (0, 0, 0),
        "four floats in one value, loaded one by one",
        """
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 box = make_float4(x[i * 4], x[i * 4 + 1], x[i * 4 + 2], x[i * 4 + 3]);
    y[i] = (box.z - box.x) * (box.w - box.y);
}
"""
        + _LAUNCH,
        True,
    ),
    Labelled(
        "tiles_in_a_docstring",
        (0, 0, 0),
        "the text in the docstring is never compiled, nor is the one that only a name holds",
        '''"""Was:

    __global__ void scale(const float* x, float* y) {
        __shared__ float tile[32][33];
        tile[threadIdx.y][threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[0] = tile[threadIdx.x][threadIdx.y];
    }
"""
import torch
from torch.utils.cpp_extension import load_inline

faster = """
__global__ void scale_kernel(const float* x, float* y, int n) {
    if (threadIdx.x < n) atomicAdd(y, __shfl_down_sync(0xffffffff, __ldg(x), 1));
}
"""
source = """
__global__ void scale_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
torch::Tensor scale(torch::Tensor x) {
    auto y = torch::empty_like(x);
    scale_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
module = load_inline(
    name="scale",
    cpp_sources="torch::Tensor scale(torch::Tensor x);",
    cuda_sources=source,
    functions=["scale"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return module.scale(x)
''',
        True,
    ),
]
