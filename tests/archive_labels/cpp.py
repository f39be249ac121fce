"""C++ for the processor."""

from tests.archive_labels import Labelled, candidate


def _cpp(name: str, cell: tuple[int, int, int], why: str, text: str, trap: bool = False, call: str = "run") -> Labelled:
    return Labelled(name, cell, why, candidate("cpp", text, f"lib.{call}(x, y, *sizes)"), trap)


KERNELS = [
    _cpp(
        "relu_serial",
        (0, 0, 0),
        "a map, element by element, one worker",
        """
extern "C" void run(const float* x, float* y, long n) {
    for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0.0f;
}
""",
    ),
    _cpp(
        "relu_team",
        (0, 0, 1),
        "a map; a team is forked and joined",
        """
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp parallel for
    for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0.0f;
}
""",
    ),
    _cpp(
        "gelu_simd_clause",
        (1, 0, 1),
        "the author asks for vectors; a map; a team",
        """
#include <cmath>
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp parallel for simd
    for (long i = 0; i < n; i++) y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
}
""",
    ),
    _cpp(
        "axpy_vectors",
        (1, 0, 0),
        "eight floats an access; a map; alone",
        """
#include <immintrin.h>
extern "C" void run(const float* x, float* y, float a, long n) {
    __m256 factor = _mm256_set1_ps(a);
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(factor, v, _mm256_loadu_ps(y + i)));
    }
    for (; i < n; i++) y[i] += a * x[i];
}
""",
    ),
    _cpp(
        "matmul_three_loops",
        (0, 0, 0),
        "a product as the formula says it",
        """
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}
""",
    ),
    _cpp(
        "matmul_blocked",
        (2, 0, 1),
        "a loop nest cut into blocks that are gone over again; a product; a team",
        """
#include <algorithm>
constexpr int BLOCK = 64;
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k) {
    #pragma omp parallel for collapse(2)
    for (int i0 = 0; i0 < m; i0 += BLOCK)
        for (int j0 = 0; j0 < n; j0 += BLOCK)
            for (int p0 = 0; p0 < k; p0 += BLOCK)
                for (int i = i0; i < std::min(i0 + BLOCK, m); i++)
                    for (int p = p0; p < std::min(p0 + BLOCK, k); p++) {
                        const float left = a[i * k + p];
                        for (int j = j0; j < std::min(j0 + BLOCK, n); j++) c[i * n + j] += left * b[p * n + j];
                    }
}
""",
    ),
    _cpp(
        "matmul_blocked_with_register_tile",
        (3, 0, 0),
        "blocks, and in them a tile of sums in registers",
        """
constexpr int BLOCK = 128, R = 4;
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int p0 = 0; p0 < k; p0 += BLOCK) {
        for (int i = 0; i < m; i += R)
            for (int j = 0; j < n; j += R) {
                float acc[R][R] = {};
                for (int p = p0; p < p0 + BLOCK; p++)
                    for (int r = 0; r < R; r++)
                        for (int s = 0; s < R; s++) acc[r][s] += a[(i + r) * k + p] * b[p * n + j + s];
                for (int r = 0; r < R; r++)
                    for (int s = 0; s < R; s++) c[(i + r) * n + j + s] += acc[r][s];
            }
    }
}
""",
    ),
    _cpp(
        "matmul_packed_panel_and_vectors",
        (3, 0, 1),
        "a packed panel gone over by every row, and four vector sums that share a factor",
        """
#include <immintrin.h>
#include <vector>
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k) {
    #pragma omp parallel for
    for (int j = 0; j < n; j += 32) {
        std::vector<float> panel(k * 32);
        for (int p = 0; p < k; p++)
            for (int q = 0; q < 32; q++) panel[p * 32 + q] = b[p * n + j + q];
        for (int i = 0; i < m; i++) {
            __m256 c0 = _mm256_setzero_ps(), c1 = c0, c2 = c0, c3 = c0;
            for (int p = 0; p < k; p++) {
                const __m256 left = _mm256_set1_ps(a[i * k + p]);
                c0 = _mm256_fmadd_ps(left, _mm256_loadu_ps(&panel[p * 32]), c0);
                c1 = _mm256_fmadd_ps(left, _mm256_loadu_ps(&panel[p * 32 + 8]), c1);
                c2 = _mm256_fmadd_ps(left, _mm256_loadu_ps(&panel[p * 32 + 16]), c2);
                c3 = _mm256_fmadd_ps(left, _mm256_loadu_ps(&panel[p * 32 + 24]), c3);
            }
            _mm256_storeu_ps(c + i * n + j, c0);
            _mm256_storeu_ps(c + i * n + j + 8, c1);
            _mm256_storeu_ps(c + i * n + j + 16, c2);
            _mm256_storeu_ps(c + i * n + j + 24, c3);
        }
    }
}
""",
    ),
    _cpp(
        "softmax_three_passes",
        (0, 1, 1),
        "a maximum and a sum in one kernel, then used; a team",
        """
#include <cmath>
extern "C" void run(const float* x, float* y, long rows, long cols) {
    #pragma omp parallel for
    for (long r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float top = a[0], total = 0.0f;
        for (long c = 1; c < cols; c++) top = std::fmax(top, a[c]);
        for (long c = 0; c < cols; c++) total += std::exp(a[c] - top);
        for (long c = 0; c < cols; c++) y[r * cols + c] = std::exp(a[c] - top) / total;
    }
}
""",
    ),
    _cpp(
        "softmax_online",
        (0, 2, 0),
        "the sum is corrected as the maximum grows, in one pass",
        """
#include <cmath>
extern "C" void run(const float* x, float* y, long rows, long cols) {
    for (long r = 0; r < rows; r++) {
        const float* a = x + r * cols;
        float top = -INFINITY, total = 0.0f;
        for (long c = 0; c < cols; c++) {
            const float higher = std::fmax(top, a[c]);
            total = total * std::exp(top - higher) + std::exp(a[c] - higher);
            top = higher;
        }
        for (long c = 0; c < cols; c++) y[r * cols + c] = std::exp(a[c] - top) / total;
    }
}
""",
    ),
    _cpp(
        "layernorm_welford",
        (0, 2, 1),
        "squares are corrected as the mean changes; a team",
        """
#include <cmath>
extern "C" void run(const float* x, float* y, long rows, long cols) {
    #pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; r++) {
        float mean = 0.0f, squares = 0.0f;
        for (long c = 0; c < cols; c++) {
            const float value = x[r * cols + c], gap = value - mean;
            mean += gap / (c + 1);
            squares += gap * (value - mean);
        }
        const float scale = 1.0f / std::sqrt(squares / cols + 1e-5f);
        for (long c = 0; c < cols; c++) y[r * cols + c] = (x[r * cols + c] - mean) * scale;
    }
}
""",
    ),
    _cpp(
        "sum_reduction_clause",
        (0, 0, 2),
        "one reduction; the workers' sums are combined by the clause",
        """
extern "C" void run(const float* x, float* y, long n) {
    float total = 0.0f;
    #pragma omp parallel for reduction(+ : total)
    for (long i = 0; i < n; i++) total += x[i];
    y[0] = total;
}
""",
    ),
    _cpp(
        "dot_with_lanes_added",
        (1, 0, 2),
        "vector loads; one reduction; the lanes of a vector are added up",
        """
#include <immintrin.h>
static float lanes(__m256 v) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_hadd_ps(half, half);
    return _mm_cvtss_f32(_mm_hadd_ps(half, half));
}
extern "C" void run(const float* x, const float* w, float* y, long n) {
    __m256 sums = _mm256_setzero_ps();
    for (long i = 0; i + 8 <= n; i += 8)
        sums = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(w + i), sums);
    y[0] = lanes(sums);
}
""",
    ),
    _cpp(
        "histogram_atomic",
        (0, 0, 3),
        "all threads count into one array by atomics",
        """
extern "C" void run(const int* x, int* y, long n) {
    #pragma omp parallel for
    for (long i = 0; i < n; i++) {
        #pragma omp atomic
        y[x[i]]++;
    }
}
""",
    ),
    _cpp(
        "linear_bias_relu",
        (0, 1, 1),
        "a product with its bias and activation in one kernel",
        """
#include <algorithm>
extern "C" void run(const float* x, const float* w, const float* bias, float* y, int m, int n, int k) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += x[i * k + p] * w[j * k + p];
            y[i * n + j] = std::max(sum + bias[j], 0.0f);
        }
}
""",
    ),
    _cpp(
        "attention_in_one_pass",
        (2, 3, 1),
        "a vector of sums held beside the arithmetic, rescaled as the scores come",
        """
#include <cmath>
constexpr int WIDTH = 64;
extern "C" void run(const float* q, const float* k, const float* v, float* y, long length) {
    #pragma omp parallel for
    for (long i = 0; i < length; i++) {
        float acc[WIDTH] = {}, top = -INFINITY, total = 0.0f;
        for (long j = 0; j < length; j++) {
            float score = 0.0f;
            for (int e = 0; e < WIDTH; e++) score += q[i * WIDTH + e] * k[j * WIDTH + e];
            const float higher = std::fmax(top, score), fade = std::exp(top - higher), share = std::exp(score - higher);
            total = total * fade + share;
            for (int d = 0; d < WIDTH; d++) acc[d] = acc[d] * fade + share * v[j * WIDTH + d];
            top = higher;
        }
        for (int d = 0; d < WIDTH; d++) y[i * WIDTH + d] = acc[d] / total;
    }
}
""",
    ),
    _cpp(
        "hadamard_butterflies",
        (0, 3, 1),
        "n log n by pairs at doubling distance, in place of a product",
        """
extern "C" void run(const float* x, float* y, long rows, long cols) {
    #pragma omp parallel for
    for (long r = 0; r < rows; r++) {
        float* row = y + r * cols;
        for (long c = 0; c < cols; c++) row[c] = x[r * cols + c];
        for (long half = 1; half < cols; half *= 2)
            for (long start = 0; start < cols; start += 2 * half)
                for (long c = start; c < start + half; c++) {
                    const float a = row[c], b = row[c + half];
                    row[c] = a + b;
                    row[c + half] = a - b;
                }
    }
}
""",
    ),
    _cpp(
        "row_sums_from_a_queue",
        (0, 0, 3),
        "threads take rows from a common counter",
        """
#include <atomic>
#include <thread>
#include <vector>
extern "C" void run(const float* x, float* y, long rows, long cols) {
    std::atomic<long> next(0);
    std::vector<std::thread> workers;
    for (int t = 0; t < 4; t++)
        workers.emplace_back([&] {
            for (long r = next.fetch_add(1); r < rows; r = next.fetch_add(1)) {
                float total = 0.0f;
                for (long c = 0; c < cols; c++) total += x[r * cols + c];
                y[r] = total;
            }
        });
    for (auto& worker : workers) worker.join();
}
""",
    ),
    _cpp(
        "sigmoid_joined_threads",
        (0, 0, 1),
        "a map; threads are started and joined",
        """
#include <cmath>
#include <thread>
#include <vector>
extern "C" void run(const float* x, float* y, long n) {
    std::vector<std::thread> workers;
    const long share = (n + 3) / 4;
    for (long t = 0; t < 4; t++)
        workers.emplace_back([=] {
            for (long i = t * share; i < n && i < (t + 1) * share; i++) y[i] = 1.0f / (1.0f + std::exp(-x[i]));
        });
    for (auto& worker : workers) worker.join();
}
""",
    ),
    _cpp(
        "transpose_blocked",
        (2, 0, 0),
        "blocks small enough for the cache, both ways; a copy",
        """
#include <algorithm>
extern "C" void run(const float* x, float* y, int rows, int cols) {
    for (int r0 = 0; r0 < rows; r0 += 32)
        for (int c0 = 0; c0 < cols; c0 += 32)
            for (int r = r0; r < std::min(r0 + 32, rows); r++)
                for (int c = c0; c < std::min(c0 + 32, cols); c++) y[c * rows + r] = x[r * cols + c];
}
""",
    ),
    _cpp(
        "matmul_amx",
        (2, 3, 0),
        "the processor's matrix engine, its tile in registers; one worker",
        """
#include <immintrin.h>
#include <cstdint>
extern "C" void run(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k) {
    for (int i = 0; i < m; i += 16)
        for (int j = 0; j < n; j += 16) {
            _tile_zero(0);
            for (int p = 0; p < k; p += 32) {
                _tile_loadd(1, a + i * k + p, k * 2);
                _tile_loadd(2, b + p * n + j * 2, n * 4);
                _tile_dpbf16ps(0, 1, 2);
            }
            _tile_stored(0, c + i * n + j, n * 4);
        }
}
""",
    ),
    _cpp(
        "row_sums_with_prefetch",
        (1, 0, 0),
        "a hint for data ahead, nothing staged; one reduction",
        """
extern "C" void run(const float* x, float* y, long rows, long cols) {
    for (long r = 0; r < rows; r++) {
        float total = 0.0f;
        for (long c = 0; c < cols; c++) {
            __builtin_prefetch(x + r * cols + c + 256);
            total += x[r * cols + c];
        }
        y[r] = total;
    }
}
""",
    ),
    _cpp(
        "matmul_blocked_with_prefetch",
        (3, 0, 0),
        "blocks, and the next one asked for while this one is in use",
        """
constexpr int B = 64;
extern "C" void run(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int p0 = 0; p0 < k; p0 += B)
        for (int i = 0; i < m; i++)
            for (int p = p0; p < p0 + B; p++) {
                __builtin_prefetch(b + (p + B) * n);
                for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
            }
}
""",
    ),
    _cpp(
        "sort_by_merging",
        (0, 3, 0),
        "divide and conquer: the function calls itself on halves",
        """
#include <algorithm>
static void sort_part(float* y, float* spare, long first, long last) {
    if (last - first < 2) return;
    const long middle = (first + last) / 2;
    sort_part(y, spare, first, middle);
    sort_part(y, spare, middle, last);
    std::merge(y + first, y + middle, y + middle, y + last, spare + first);
    std::copy(spare + first, spare + last, y + first);
}
extern "C" void run(float* y, float* spare, long n) { sort_part(y, spare, 0, n); }
""",
    ),
    _cpp(
        "rmsnorm_vector_type",
        (1, 1, 1),
        "eight lanes at once by a vector type; a sum of squares that scales the row; a team",
        """
#include <cmath>
#include <cstring>
typedef float lanes __attribute__((vector_size(32)));
extern "C" void run(const float* x, float* y, long rows, long cols) {
    #pragma omp parallel for
    for (long r = 0; r < rows; r++) {
        lanes sums = {};
        for (long c = 0; c < cols; c += 8) {
            lanes v;
            std::memcpy(&v, x + r * cols + c, sizeof v);
            sums += v * v;
        }
        float total = 0.0f;
        for (int lane = 0; lane < 8; lane++) total += sums[lane];
        const float scale = 1.0f / std::sqrt(total / cols + 1e-6f);
        for (long c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * scale;
    }
}
""",
    ),
    _cpp(
        "causal_row_sums_dynamic",
        (0, 0, 3),
        "rows of unequal length are taken from the runtime's common queue",
        """
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp parallel for schedule(dynamic, 16)
    for (long r = 0; r < n; r++) {
        float total = 0.0f;
        for (long c = 0; c <= r; c++) total += x[r * n + c];
        y[r] = total;
    }
}
""",
    ),
    _cpp(
        "comments_promise_everything",
        (0, 0, 0),
        "what is in comments is not there",
        """
// Blocked for L1, register tile acc[8][8], prefetch of the next block with _mm_prefetch, #pragma omp parallel for
/* online softmax: total = total * exp(top - higher); atomics: std::atomic<int> next; next.fetch_add(1);
   AVX: _mm256_loadu_ps, _mm256_fmadd_ps */
extern "C" void run(const float* x, float* y, long n) {
    for (long i = 0; i < n; i++) y[i] = x[i] * 2.0f;  // vectorised with _mm256_storeu_ps
}
""",
        True,
    ),
    _cpp(
        "names_promise_everything",
        (0, 0, 0),
        "names of variables and functions are not what they say",
        """
static float warp_reduce_tile(float avx_block) { return avx_block * 0.5f; }
static float prefetch_atomic_simd(float online_max) { return warp_reduce_tile(online_max); }
extern "C" void run(const float* x, float* y, long n) {
    float thread_pool_tile = 3.0f;
    for (long omp_parallel = 0; omp_parallel < n; omp_parallel++)
        y[omp_parallel] = prefetch_atomic_simd(x[omp_parallel]) + thread_pool_tile;
}
""",
        True,
    ),
    _cpp(
        "vectors_switched_off",
        (0, 0, 0),
        "the branch with vectors and threads is not compiled",
        """
#define USE_AVX 0
#include <immintrin.h>
extern "C" void run(const float* x, float* y, long n) {
#if USE_AVX
    #pragma omp parallel for
    for (long i = 0; i < n; i += 8) _mm256_storeu_ps(y + i, _mm256_loadu_ps(x + i));
#else
    for (long i = 0; i < n; i++) y[i] = x[i] + 1.0f;
#endif
#ifdef FANCY_BLOCKING
    for (long b = 0; b < n; b += 64)
        for (long t = 0; t < 8; t++)
            for (long i = b; i < b + 64; i++) y[i] += x[i];
#endif
}
""",
        True,
    ),
    _cpp(
        "a_better_function_that_nobody_calls",
        (0, 0, 0),
        "only `run` is called",
        """
#include <immintrin.h>
extern "C" void run_fast(const float* x, float* y, long n) {
    #pragma omp parallel for
    for (long i = 0; i < n; i += 8) _mm256_storeu_ps(y + i, _mm256_loadu_ps(x + i));
}
extern "C" void run(const float* x, float* y, long n) {
    for (long i = 0; i < n; i++) y[i] = x[i];
}
""",
        True,
    ),
    _cpp(
        "strip_mined_map",
        (0, 0, 1),
        "a block that is gone over once is no tile",
        """
#include <algorithm>
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp parallel for
    for (long block = 0; block < n; block += 4096)
        for (long i = block; i < std::min(block + 4096, n); i++) y[i] = x[i] * x[i];
}
""",
        True,
    ),
    _cpp(
        "four_sums_side_by_side",
        (0, 0, 0),
        "four sums that share no factor are no tile, and one reduction",
        """
extern "C" void run(const float* x, const float* w, float* y, long n) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long i = 0; i < n; i += 4) {
        s0 += x[i] * w[i];
        s1 += x[i + 1] * w[i + 1];
        s2 += x[i + 2] * w[i + 2];
        s3 += x[i + 3] * w[i + 3];
    }
    y[0] = s0 + s1 + s2 + s3;
}
""",
        True,
    ),
    _cpp(
        "a_message_about_threads",
        (0, 0, 0),
        "strings are not code",
        """
#include <cstdio>
extern "C" void run(const float* x, float* y, long n) {
    std::puts("using #pragma omp parallel for, _mm512_loadu_ps(x), std::atomic<int> and a tile acc[8][8]");
    for (long i = 0; i < n; i++) y[i] = -x[i];
}
""",
        True,
    ),
]
