#include "spinney/simd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

// Each kernel is compiled twice and chosen when the library is loaded: a wheel built here runs on any
// x86-64 and still uses AVX2 where it is found. Other processors get the plain loops, which compilers
// vectorise for their baseline (NEON). An attribute cannot be made conditional without a macro.
#if defined(SPINNEY_MULTIVERSION)
#define SPINNEY_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define SPINNEY_KERNEL
#endif

namespace spinney {
namespace {

/// Partial sums of a dot product. Rows of at most N entries need only the first N of the lanes: the
/// others stay zero, and adding zeros changes no bit.
template <std::size_t N>
using LanesOf = std::array<float, N>;
using Lanes = LanesOf<float_lanes>;

/// Lanes are added in double along a fixed tree, short enough for narrow rows.
template <std::size_t N>
[[gnu::always_inline]] inline double sum_lanes(const LanesOf<N>& lanes) {
    double eight[8];
    for (std::size_t i = 0; i < 8; ++i) {
        eight[i] = static_cast<double>(lanes[i]) + static_cast<double>(lanes[i + 8]);
        if constexpr (N == float_lanes)
            eight[i] += static_cast<double>(lanes[i + 16]) + static_cast<double>(lanes[i + 24]);
    }
    double four[4];
    for (std::size_t i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/// lanes[first + i] += x[i] * w[i] for i < Count; a constant count becomes vector instructions.
template <std::size_t Count, std::size_t N>
[[gnu::always_inline]] inline void add_to_lanes(const float* x, const float* w, std::size_t first, LanesOf<N>& lanes) {
    for (std::size_t i = 0; i < Count; ++i) lanes[first + i] += x[i] * w[i];
}

template <std::size_t N>
[[gnu::always_inline]] inline double lane_dot(const float* x, const float* w, std::size_t size) {
    LanesOf<N> lanes{};
    std::size_t j = 0;
    if constexpr (N == float_lanes)
        for (; j + N <= size; j += N) add_to_lanes<N>(x + j, w + j, 0, lanes);
    std::size_t lane = 0;
    if (j + 16 <= size) {
        add_to_lanes<16>(x + j, w + j, 0, lanes);
        j += 16;
        lane = 16;
    }
    if (j + 8 <= size) {
        add_to_lanes<8>(x + j, w + j, lane, lanes);
        j += 8;
        lane += 8;
    }
    for (; j < size; ++j, ++lane) lanes[lane] += x[j] * w[j];
    return sum_lanes(lanes);
}

/// The side indexes the children instead of steering a branch: which way a row goes is a coin toss to
/// the processor, and a wrong guess costs more than the dot product of a narrow row.
template <std::size_t N>
[[gnu::always_inline]] inline std::size_t walk_with(std::span<const float> x, const SplitArrays& splits,
                                                    std::int32_t at) {
    while (at >= 0) {
        const auto split = static_cast<std::size_t>(at);
        const double score = lane_dot<N>(x.data(), splits.w + split * x.size(), x.size()) + splits.bias[split];
        at = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
    }
    return static_cast<std::size_t>(~at);
}

[[gnu::always_inline]] inline float soft_threshold(float value, float threshold) {
    const float shrunk = std::max(std::fabs(value) - threshold, 0.0F);
    return std::copysign(shrunk, value);
}

/// exp(x) for x <= 0 to about 1e-13, without calling libm: libm differs between machines.
[[gnu::always_inline]] inline double exp_negative(double x) {
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 0.693147180369123816490;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    x = std::max(x, -700.0);
    const double shifted = x * log2_e + shift;
    const double k = shifted - shift;
    const double r = (x - k * ln2_high) - k * ln2_low;
    double series = 1.0 / 39916800.0;
    for (double factorial : {3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0})
        series = series * r + 1.0 / factorial;
    const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U;
    return series * std::bit_cast<double>(exponent);
}

/// log(1 + u) for 0 <= u <= 1 to about 1e-12: twice the series of atanh(u / (2 + u)).
[[gnu::always_inline]] inline double log1p_unit(double u) {
    const double t = u / (2.0 + u);
    const double t2 = t * t;
    double series = 1.0 / 23.0;
    for (double odd : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
        series = series * t2 + 1.0 / odd;
    return 2.0 * t * series;
}

template <std::size_t Count>
[[gnu::always_inline]] inline double stream_step_of(const StreamVectors& v, const float* const rows[4],
                                                    const float change[4], float step,
                                                    float inverse_rows) {
    constexpr auto repeats = static_cast<float>(Count);
    float total = 0.0F;
    for (std::size_t k = 0; k < Count; ++k) total += change[k];
    const float keep = Count == 1 ? v.keep : v.keep * v.keep * v.keep * v.keep;
    Lanes centre{};
    const auto update = [&](std::size_t j, float& lane) {
        float sum = change[0] * rows[0][j];
        for (std::size_t k = 1; k < Count; ++k) sum += change[k] * rows[k][j];
        const float fresh = (sum - total * v.mean[j]) * v.metric[j];
        const float moved = v.w[j] - step * (fresh + repeats * v.gradient[j]);
        v.gradient[j] += fresh * inverse_rows;
        const float next = soft_threshold(moved * keep, repeats * v.threshold[j]);
        v.w[j] = next;
        lane += next * v.mean[j];
    };
    std::size_t j = 0;
    for (; j + float_lanes <= v.size; j += float_lanes)
#pragma GCC ivdep
        for (std::size_t lane = 0; lane < float_lanes; ++lane) update(j + lane, centre[lane]);
    for (std::size_t lane = 0; j + lane < v.size; ++lane) update(j + lane, centre[lane]);
    return sum_lanes(centre);
}

template <std::size_t Count>
[[gnu::always_inline]] inline void add_gradient_of(const StreamVectors& v, const float* const rows[4],
                                                   const float slope[4]) {
    float total = 0.0F;
    for (std::size_t k = 0; k < Count; ++k) total += slope[k];
#pragma GCC ivdep
    for (std::size_t j = 0; j < v.size; ++j) {
        float sum = slope[0] * rows[0][j];
        for (std::size_t k = 1; k < Count; ++k) sum += slope[k] * rows[k][j];
        v.gradient[j] += (sum - total * v.mean[j]) * v.metric[j];
    }
}

}  // namespace

SPINNEY_KERNEL double dot(std::span<const float> x, const float* w) {
    if (x.size() <= 16) return lane_dot<16>(x.data(), w, x.size());
    return lane_dot<float_lanes>(x.data(), w, x.size());
}

double dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    Lanes lanes{};
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto j = static_cast<std::size_t>(indices[k]);
        lanes[j % float_lanes] += values[k] * w[j];
    }
    return sum_lanes(lanes);
}

SPINNEY_KERNEL std::size_t walk(std::span<const float> x, const SplitArrays& splits, std::int32_t start) {
    if (x.size() <= 16) return walk_with<16>(x, splits, start);
    return walk_with<float_lanes>(x, splits, start);
}

SPINNEY_KERNEL double stream_step(const StreamVectors& v, const float* const rows[4],
                                  const float change[4], std::size_t count, float step,
                                  float inverse_rows) {
    return count == 4 ? stream_step_of<4>(v, rows, change, step, inverse_rows)
                      : stream_step_of<1>(v, rows, change, step, inverse_rows);
}

SPINNEY_KERNEL void add_gradient(const StreamVectors& v, const float* const rows[4],
                                 const float slope[4], std::size_t count) {
    if (count == 4)
        add_gradient_of<4>(v, rows, slope);
    else
        add_gradient_of<1>(v, rows, slope);
}

SPINNEY_KERNEL void standardise(std::span<const float> x, const double* mean,
                                const double* inverse_scale, double* z) {
    for (std::size_t j = 0; j < x.size(); ++j)
        z[j] = (static_cast<double>(x[j]) - mean[j]) * inverse_scale[j];
}

SPINNEY_KERNEL void logistic(std::span<const double> t, double* p, double* loss) {
#pragma GCC ivdep
    for (std::size_t n = 0; n < t.size(); ++n) {
        const double u = exp_negative(-std::fabs(t[n]));
        const double small = u / (1.0 + u);
        p[n] = t[n] >= 0.0 ? 1.0 - small : small;
        loss[n] = std::max(-t[n], 0.0) + log1p_unit(u);
    }
}

SPINNEY_KERNEL void add_hessian(const double* z, const double* h, std::size_t stride, double* hessian) {
    constexpr std::size_t tile = 4;
    for (std::size_t i = 0; i < stride; i += tile) {
        for (std::size_t j = i; j < stride; j += tile) {
            double sums[tile][tile] = {};
            for (std::size_t r = 0; r < block_rows; ++r) {
                const double* row = z + r * stride;
                for (std::size_t a = 0; a < tile; ++a) {
                    const double left = h[r] * row[i + a];
                    for (std::size_t b = 0; b < tile; ++b) sums[a][b] += left * row[j + b];
                }
            }
            for (std::size_t a = 0; a < tile; ++a)
                for (std::size_t b = 0; b < tile; ++b) hessian[(i + a) * stride + j + b] += sums[a][b];
        }
    }
}

SPINNEY_KERNEL void block_scores(const double* z, std::size_t n_rows, std::size_t stride,
                                 const double* w, double bias, double* out) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        double lanes[4] = {};
        for (std::size_t j = 0; j < stride; j += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] += z[r * stride + j + lane] * w[j + lane];
        out[r] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + bias;
    }
}

SPINNEY_KERNEL void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride,
                                       const double* slopes, double* out) {
    for (std::size_t r = 0; r < n_rows; ++r)
        for (std::size_t j = 0; j < stride; ++j) out[j] += slopes[r] * z[r * stride + j];
}

}  // namespace spinney
