"""A blocked product with a small tile in registers. How large the blocks and the tile are is for the tuner to say:

kernelwright tune examples/tuning examples/tuning/candidate.py --out tuned.py
"""

import torch

from kernelwright import native

lib = native.cpp(r"""
#include <algorithm>
#include <cstdint>

constexpr int ROWS = 4;       // tune: 2, 4, 6, 8
constexpr int VECTORS = 2;    // tune: 1, 2, 3, 4
constexpr int BYTES = 32;     // tune: 16, 32, 64
constexpr int DEPTH = 128;    // tune: 64, 128, 256, 512
constexpr int BLOCK_M = 48;   // tune: 24, 48, 96, 192
constexpr int BLOCK_N = 192;  // tune: 96, 192, 384
// tune where: BYTES <= VECTOR_BYTES
// tune where: ROWS * VECTORS <= 24
// tune where: BLOCK_N % (VECTORS * BYTES // 4) == 0
// tune where: DEPTH * VECTORS * BYTES <= L1_BYTES
// tune by: m, n, k

typedef float Vector __attribute__((vector_size(BYTES), aligned(4), may_alias));
constexpr int LANES = BYTES / 4, COLUMNS = VECTORS * LANES;

// ROWS x COLUMNS of the result stay in registers while `depth` products are added to each.
static void tile(const float* a, const float* b, float* c, int64_t depth, int64_t n, int64_t k) {
    Vector sums[ROWS][VECTORS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < VECTORS; j++) sums[i][j] = *(const Vector*)(c + i * n + j * LANES);
    for (int64_t p = 0; p < depth; p++) {
        Vector row[VECTORS];
        for (int j = 0; j < VECTORS; j++) row[j] = *(const Vector*)(b + p * n + j * LANES);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < VECTORS; j++) sums[i][j] += a[i * k + p] * row[j];
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < VECTORS; j++) *(Vector*)(c + i * n + j * LANES) = sums[i][j];
}

// What no whole tile covers.
static void rest(const float* a, const float* b, float* c, int64_t rows, int64_t columns, int64_t depth, int64_t n,
                 int64_t k) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < depth; p++)
            for (int64_t j = 0; j < columns; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

static void block(const float* a, const float* b, float* c, int64_t rows, int64_t columns, int64_t depth, int64_t n,
                  int64_t k) {
    int64_t whole_rows = rows / ROWS * ROWS, whole_columns = columns / COLUMNS * COLUMNS;
    for (int64_t j = 0; j < whole_columns; j += COLUMNS)
        for (int64_t i = 0; i < whole_rows; i += ROWS) tile(a + i * k, b + j, c + i * n + j, depth, n, k);
    rest(a, b + whole_columns, c + whole_columns, whole_rows, columns - whole_columns, depth, n, k);
    rest(a + whole_rows * k, b, c + whole_rows * n, rows - whole_rows, columns, depth, n, k);
}

extern "C" void product(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
    #pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t i = 0; i < m; i += BLOCK_M)
        for (int64_t j = 0; j < n; j += BLOCK_N) {
            int64_t rows = std::min<int64_t>(BLOCK_M, m - i), columns = std::min<int64_t>(BLOCK_N, n - j);
            for (int64_t r = 0; r < rows; r++) std::fill_n(c + (i + r) * n + j, columns, 0.0f);
            for (int64_t p = 0; p < k; p += DEPTH)
                block(a + i * k + p, b + p * n + j, c + i * n + j, rows, columns, std::min<int64_t>(DEPTH, k - p), n,
                      k);
        }
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1])
        lib.product(a, b, c, a.shape[0], b.shape[1], a.shape[1])
        return c
