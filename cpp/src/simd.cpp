#include "spinney/simd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

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

// Vectors of the compiler (GCC, Clang): lowered to whatever the target has, lane by lane the same.
using Float8 = float __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V, class T>
[[gnu::always_inline]] inline void store(T* to, V v) {
    std::memcpy(to, &v, sizeof v);
}

/// Eight entries of a row as floats.
[[gnu::always_inline]] inline Float8 load_row(const float* from) { return load<Float8>(from); }
[[gnu::always_inline]] inline Float8 load_row(const std::uint8_t* from) {
    using Byte16 = std::uint8_t __attribute__((vector_size(16)));
    using Word2 = std::uint64_t __attribute__((vector_size(16)));
    using Int4 = std::int32_t __attribute__((vector_size(16)));
    std::uint64_t eight = 0;
    std::memcpy(&eight, from, sizeof eight);
    // Bytes 8 to 15 are zero: a byte and three of them make a whole number. Spelt out as shuffles, because
    // compilers turn a conversion of eight bytes into single steps.
    const auto b = std::bit_cast<Byte16>(Word2{eight, 0});
    const auto low = __builtin_shufflevector(b, b, 0, 8, 8, 8, 1, 8, 8, 8, 2, 8, 8, 8, 3, 8, 8, 8);
    const auto high = __builtin_shufflevector(b, b, 4, 8, 8, 8, 5, 8, 8, 8, 6, 8, 8, 8, 7, 8, 8, 8);
    const Float4 first = __builtin_convertvector(std::bit_cast<Int4>(low), Float4);
    const Float4 second = __builtin_convertvector(std::bit_cast<Int4>(high), Float4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}

/// Four entries of a row as doubles.
[[gnu::always_inline]] inline Double4 load_four(const float* from) {
    return __builtin_convertvector(load<Float4>(from), Double4);
}
[[gnu::always_inline]] inline Double4 load_four(const std::uint8_t* from) {
    return Double4{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
                   static_cast<double>(from[3])};
}

/// Partial sums of a dot product, eight lanes a vector. Rows of at most 16 entries need only half of
/// them: the others stay zero, and adding zeros changes no bit.
template <std::size_t N>
using LanesOf = std::array<Float8, N / 8>;

/// Lanes are folded in halves: a fixed tree that needs few instructions for narrow rows.
template <std::size_t N>
[[gnu::always_inline]] inline double sum_lanes(LanesOf<N> lanes) {
    if constexpr (N == 32) {
        lanes[0] += lanes[2];
        lanes[1] += lanes[3];
    }
    lanes[0] += lanes[1];
    float eight[8];
    store(eight, lanes[0]);
    const Float4 four = load<Float4>(eight) + load<Float4>(eight + 4);
    return static_cast<double>((four[0] + four[2]) + (four[1] + four[3]));
}

template <std::size_t N, class T>
[[gnu::always_inline]] inline double lane_dot(const T* x, const float* w, std::size_t size) {
    LanesOf<N> lanes{};
    std::size_t j = 0;
    for (; j + N <= size; j += N)
        for (std::size_t v = 0; v < N / 8; ++v) lanes[v] += load_row(x + j + 8 * v) * load<Float8>(w + j + 8 * v);
    for (std::size_t v = 0; v < N / 8 && j < size; ++v, j += 8) {
        if (j + 8 <= size) {
            lanes[v] += load_row(x + j) * load<Float8>(w + j);
            continue;
        }
        float part[8] = {};
        for (std::size_t i = 0; j + i < size; ++i) part[i] = static_cast<float>(x[j + i]) * w[j + i];
        lanes[v] += load<Float8>(part);
    }
    return sum_lanes<N>(lanes);
}

/// The side indexes the children instead of steering a branch: which way a row goes is a coin toss to
/// the processor, and a wrong guess costs more than the dot product of a narrow row. Rows advance
/// together, so that one row's arithmetic fills the waiting times of another's.
template <std::size_t N, class T>
[[gnu::always_inline]] inline void walk_with(std::span<const T* const> rows, std::size_t size,
                                             const SplitArrays& splits, std::span<std::int32_t> at) {
    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (at[r] < 0) continue;
            const auto split = static_cast<std::size_t>(at[r]);
            const double score = lane_dot<N>(rows[r], splits.w + split * size, size) + splits.bias[split];
            at[r] = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
            is_moving = true;
        }
    }
}

/// exp(x) for x <= 0 to about 1e-13, without calling libm: libm differs between machines.
[[gnu::always_inline]] inline Double4 exp_negative(Double4 x) {
    using Bits4 = std::uint64_t __attribute__((vector_size(32)));
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 0.693147180369123816490;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    x = x < -700.0 ? Double4{} - 700.0 : x;
    const Double4 shifted = x * log2_e + shift;
    const Double4 k = shifted - shift;
    const Double4 r = (x - k * ln2_high) - k * ln2_low;
    Double4 series = Double4{} + 1.0 / 39916800.0;
    for (double factorial : {3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0})
        series = series * r + 1.0 / factorial;
    const Bits4 exponent = (std::bit_cast<Bits4>(shifted) + 1023U) << 52U;
    return series * std::bit_cast<Double4>(exponent);
}

/// log(1 + u) for 0 <= u <= 1 to about 1e-12: twice the series of atanh(u / (2 + u)).
[[gnu::always_inline]] inline Double4 log1p_unit(Double4 u) {
    const Double4 t = u / (2.0 + u);
    const Double4 t2 = t * t;
    Double4 series = Double4{} + 1.0 / 23.0;
    for (double odd : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
        series = series * t2 + 1.0 / odd;
    return 2.0 * t * series;
}

/// Reads and writes eight consecutive entries of a row.
struct Whole {
    template <class T>
    [[gnu::always_inline]] static Float8 read(const T* from) {
        return load_row(from);
    }
    [[gnu::always_inline]] static void write(float* to, Float8 v) { store(to, v); }
};
/// The same for the last entries of a row, fewer than eight; what is missing reads as zero.
struct Part {
    std::size_t count;
    template <class T>
    [[gnu::always_inline]] Float8 read(const T* from) const {
        float part[8] = {};
        for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<float>(from[i]);
        return load<Float8>(part);
    }
    [[gnu::always_inline]] void write(float* to, Float8 v) const {
        for (std::size_t i = 0; i < count; ++i) to[i] = v[i];
    }
};

/// visit(access, j) for j = 0, 8, ..., where `access` reads and writes at an offset of j.
template <class Visit>
[[gnu::always_inline]] inline void for_eights(std::size_t size, const Visit& visit) {
    std::size_t j = 0;
    for (; j + 8 <= size; j += 8) visit(Whole{}, j);
    if (j < size) visit(Part{size - j}, j);
}

/// sign(v) max(|v| - t, 0), lane by lane: v - clamp(v, -t, t).
[[gnu::always_inline]] inline Float8 soft_threshold(Float8 v, Float8 t) {
    const Float8 below = v < -t ? -t : v;
    return v - (below > t ? t : below);
}

/// Rows and slopes of one step, copied: stores to the hyperplane could otherwise change them as far as
/// the compiler knows, and it would read them again for every eight entries.
template <std::size_t Count, class T>
struct Batch {
    const T* rows[Count];
    float slopes[Count];
    float total = 0.0F;

    [[gnu::always_inline]] Batch(const T* const rows_[4], const float slopes_[4]) {
        for (std::size_t k = 0; k < Count; ++k) {
            rows[k] = rows_[k];
            slopes[k] = slopes_[k];
            total += slopes_[k];
        }
    }
    /// metric * sum_k slope_k (row_k - mean) at the entries from j.
    template <class Access>
    [[gnu::always_inline]] Float8 gradient(const StreamVectors& v, const Access& access, std::size_t j) const {
        Float8 sum = slopes[0] * access.read(rows[0] + j);
        for (std::size_t k = 1; k < Count; ++k) sum += slopes[k] * access.read(rows[k] + j);
        return (sum - total * access.read(v.mean + j)) * access.read(v.metric + j);
    }
};

template <std::size_t Count, class T>
[[gnu::always_inline]] inline double stream_step_of(const StreamVectors v, const Batch<Count, T> batch, float step,
                                                    float inverse_rows) {
    constexpr auto repeats = static_cast<float>(Count);
    const float keep = Count == 1 ? v.keep : v.keep * v.keep * v.keep * v.keep;
    Float8 centre{};
    for_eights(v.size, [&](const auto& access, std::size_t j) {
        const Float8 fresh = batch.gradient(v, access, j);
        const Float8 gradient = access.read(v.gradient + j);
        const Float8 moved = access.read(v.w + j) - step * (fresh + repeats * gradient);
        const Float8 next = soft_threshold(moved * keep, repeats * access.read(v.threshold + j));
        access.write(v.gradient + j, gradient + fresh * inverse_rows);
        access.write(v.w + j, next);
        centre += next * access.read(v.mean + j);
    });
    return sum_lanes<16>({centre, Float8{}});
}

template <std::size_t Count, class T>
[[gnu::always_inline]] inline void add_gradient_of(const StreamVectors v, const Batch<Count, T> batch) {
    for_eights(v.size, [&](const auto& access, std::size_t j) {
        access.write(v.gradient + j, access.read(v.gradient + j) + batch.gradient(v, access, j));
    });
}

template <class T>
[[gnu::always_inline]] inline double dot_of(std::span<const T> x, const float* w) {
    if (x.size() <= 16) return lane_dot<16>(x.data(), w, x.size());
    return lane_dot<float_lanes>(x.data(), w, x.size());
}

template <class T>
[[gnu::always_inline]] inline void walk_of(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits,
                                           std::span<std::int32_t> at) {
    if (size <= 16)
        walk_with<16, T>(rows, size, splits, at);
    else
        walk_with<float_lanes, T>(rows, size, splits, at);
}

template <class T>
[[gnu::always_inline]] inline double any_stream_step(const StreamVectors& v, const T* const rows[4],
                                                     const float change[4], std::size_t count, float step,
                                                     float inverse_rows) {
    return count == 4 ? stream_step_of(v, Batch<4, T>(rows, change), step, inverse_rows)
                      : stream_step_of(v, Batch<1, T>(rows, change), step, inverse_rows);
}

template <class T>
[[gnu::always_inline]] inline void add_any_gradient(const StreamVectors& v, const T* const rows[4],
                                                    const float slope[4], std::size_t count) {
    if (count == 4)
        add_gradient_of(v, Batch<4, T>(rows, slope));
    else
        add_gradient_of(v, Batch<1, T>(rows, slope));
}

template <class T>
[[gnu::always_inline]] inline void standardise_any(std::span<const T> x, const double* mean,
                                                   const double* inverse_scale, double* z) {
    std::size_t j = 0;
    for (; j + 4 <= x.size(); j += 4) {
        const Double4 wide = load_four(x.data() + j);
        store(z + j, (wide - load<Double4>(mean + j)) * load<Double4>(inverse_scale + j));
    }
    for (; j < x.size(); ++j) z[j] = (static_cast<double>(x[j]) - mean[j]) * inverse_scale[j];
}

}  // namespace

// An attribute for several targets does not go with templates: each kernel is spelt out for both kinds.
SPINNEY_KERNEL double dot(std::span<const float> x, const float* w) { return dot_of(x, w); }
SPINNEY_KERNEL double dot(std::span<const std::uint8_t> x, const float* w) { return dot_of(x, w); }

double dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    std::array<float, float_lanes> lanes{};
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto j = static_cast<std::size_t>(indices[k]);
        lanes[j % float_lanes] += values[k] * w[j];
    }
    for (std::size_t half = float_lanes / 2; half >= 4; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return static_cast<double>((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
}

SPINNEY_KERNEL void walk(std::span<const float* const> rows, std::size_t size, const SplitArrays& splits,
                         std::span<std::int32_t> at) {
    walk_of(rows, size, splits, at);
}
SPINNEY_KERNEL void walk(std::span<const std::uint8_t* const> rows, std::size_t size, const SplitArrays& splits,
                         std::span<std::int32_t> at) {
    walk_of(rows, size, splits, at);
}

SPINNEY_KERNEL double stream_step(const StreamVectors& v, const float* const rows[4], const float change[4],
                                  std::size_t count, float step, float inverse_rows) {
    return any_stream_step(v, rows, change, count, step, inverse_rows);
}
SPINNEY_KERNEL double stream_step(const StreamVectors& v, const std::uint8_t* const rows[4], const float change[4],
                                  std::size_t count, float step, float inverse_rows) {
    return any_stream_step(v, rows, change, count, step, inverse_rows);
}

SPINNEY_KERNEL void add_gradient(const StreamVectors& v, const float* const rows[4], const float slope[4],
                                 std::size_t count) {
    add_any_gradient(v, rows, slope, count);
}
SPINNEY_KERNEL void add_gradient(const StreamVectors& v, const std::uint8_t* const rows[4], const float slope[4],
                                 std::size_t count) {
    add_any_gradient(v, rows, slope, count);
}

SPINNEY_KERNEL void standardise(std::span<const float> x, const double* mean, const double* inverse_scale, double* z) {
    standardise_any(x, mean, inverse_scale, z);
}
SPINNEY_KERNEL void standardise(std::span<const std::uint8_t> x, const double* mean, const double* inverse_scale,
                                double* z) {
    standardise_any(x, mean, inverse_scale, z);
}

SPINNEY_KERNEL void logistic(std::span<const double> t, double* p, double* loss) {
    for (std::size_t n = 0; n < t.size(); n += 4) {
        const std::size_t count = std::min<std::size_t>(4, t.size() - n);
        double part[4] = {};
        std::copy_n(t.data() + n, count, part);
        const auto at = load<Double4>(part);
        const Double4 u = exp_negative(at < 0.0 ? at : -at);
        const Double4 small = u / (1.0 + u);
        store(part, at < 0.0 ? small : 1.0 - small);
        std::copy_n(part, count, p + n);
        store(part, (at < 0.0 ? -at : Double4{}) + log1p_unit(u));
        std::copy_n(part, count, loss + n);
    }
}

SPINNEY_KERNEL void add_hessian(const double* z, std::size_t n_rows, std::size_t stride, const double* h,
                                double* hessian) {
    constexpr std::size_t tile = 4;
    for (std::size_t i = 0; i < stride; i += tile) {
        for (std::size_t j = i; j < stride; j += tile) {
            Double4 sums[tile] = {};
            for (std::size_t r = 0; r < n_rows; ++r) {
                const double* row = z + r * stride;
                const Double4 right = h[r] * load<Double4>(row + j);
                for (std::size_t a = 0; a < tile; ++a) sums[a] += row[i + a] * right;
            }
            for (std::size_t a = 0; a < tile; ++a) {
                double* out = hessian + (i + a) * stride + j;
                store(out, load<Double4>(out) + sums[a]);
            }
        }
    }
}

SPINNEY_KERNEL void block_scores(const double* z, std::size_t n_rows, std::size_t stride,
                                 const double* w, double bias, double* out) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        Double4 lanes{};
        for (std::size_t j = 0; j < stride; j += 4) lanes += load<Double4>(z + r * stride + j) * load<Double4>(w + j);
        out[r] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + bias;
    }
}

SPINNEY_KERNEL void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride,
                                       const double* slopes, double* out) {
    for (std::size_t j = 0; j < stride; j += 4) {
        Double4 sum = load<Double4>(out + j);
        for (std::size_t r = 0; r < n_rows; ++r) sum += slopes[r] * load<Double4>(z + r * stride + j);
        store(out + j, sum);
    }
}

}  // namespace spinney
