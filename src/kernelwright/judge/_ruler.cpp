// The judge's arithmetic on large results: how far a result is from the right values, in local units (_compare.py).
// Starts no threads: who calls it for two halves at once has two cores at it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

template <class T> bool finite(T x) { return std::fabs(x) <= std::numeric_limits<T>::max(); }

template <class T> void square_sums(const T *values, int64_t length, int64_t block, double *sums) {
    for (int64_t start = 0; start < length; start += block) {
        int64_t stop = std::min(length, start + block);
        double sum = 0;
        #pragma omp simd reduction(+ : sum)
        for (int64_t i = start; i < stop; i++) {
            double x = values[i];
            sum += finite(values[i]) ? x * x : 0;
        }
        sums[start / block] = sum;
    }
}

// Writes the sum of squared errors and the largest error. What is expected to be infinite or NaN is met or missed.
template <class R, class V>
void deviation(const R *result, const V *right, const double *scales, int64_t length, int64_t block, double *out) {
    double total = 0, peak = 0;
    for (int64_t start = 0; start < length; start += block) {
        int64_t stop = std::min(length, start + block);
        double scale = scales[start / block];
        #pragma omp simd reduction(+ : total) reduction(max : peak)
        for (int64_t i = start; i < stop; i++) {
            double got = result[i], v = right[i];
            bool met = (got == v) | ((got != got) & (v != v));
            double plain = (got - v) / (std::fabs(v) + scale);
            double special = met ? 0 : std::numeric_limits<double>::infinity();
            double error = std::fabs(finite(v) ? plain : special);
            total += error * error;
            peak = error > peak ? error : peak;
        }
    }
    out[0] = total;
    out[1] = peak;
}

}  // namespace

#define SQUARES(T, t)                                                                                                  \
    extern "C" void ruler_squares_##t(const T *values, int64_t length, int64_t block, double *sums) {                  \
        square_sums(values, length, block, sums);                                                                      \
    }
#define DEVIATION(R, r, V, v)                                                                                          \
    extern "C" void ruler_##r##_##v(const R *got, const V *right, const double *scales, int64_t length, int64_t block, \
                                    double *out) {                                                                     \
        deviation(got, right, scales, length, block, out);                                                             \
    }
SQUARES(float, float32)
SQUARES(double, float64)
DEVIATION(float, float32, float, float32)
DEVIATION(float, float32, double, float64)
DEVIATION(double, float64, float, float32)
DEVIATION(double, float64, double, float64)
