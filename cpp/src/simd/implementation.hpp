#pragma once
/// The kernels themselves, to be included by one file a level of vector instructions: the compiler's flags for that
/// file decide what they become. All levels give the same bits. Everything is local to the file that includes it.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "simd/kernels.hpp"

namespace spinney::simd {
namespace {

// Vectors of the compiler (GCC, Clang): lowered to whatever the target has, lane by lane the same.
using Float8 = float __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Float16 = float __attribute__((vector_size(64)));
#if defined(__AVX512F__)
using Wide = Float16;
#else
using Wide = Float8;
#endif
/// Lanes of the vectors that wide rows are handled with.
constexpr std::size_t wide_lanes = sizeof(Wide) / sizeof(float);

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

/// Entries of a row as floats, as many as V has lanes.
template <class V>
[[gnu::always_inline]] inline V load_row(const float* from) {
    return load<V>(from);
}
// Spelt out, because compilers turn a conversion of eight bytes into single steps.
#if defined(__AVX2__)
template <class V>
    requires(sizeof(V) == sizeof(Float8))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return std::bit_cast<V>(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight)));
}
#else
template <class V>
    requires(sizeof(V) == sizeof(Float8))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    using Byte16 = std::uint8_t __attribute__((vector_size(16)));
    using Word2 = std::uint64_t __attribute__((vector_size(16)));
    using Short8 = std::uint16_t __attribute__((vector_size(16)));
    using Int4 = std::int32_t __attribute__((vector_size(16)));
    std::uint64_t eight = 0;
    std::memcpy(&eight, from, sizeof eight);
    // Zeros between the bytes, twice, make whole numbers of them.
    const auto bytes = std::bit_cast<Byte16>(Word2{eight, 0});
    const auto pairs = std::bit_cast<Short8>(
        __builtin_shufflevector(bytes, Byte16{}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    const auto low = std::bit_cast<Int4>(__builtin_shufflevector(pairs, Short8{}, 0, 8, 1, 9, 2, 10, 3, 11));
    const auto high = std::bit_cast<Int4>(__builtin_shufflevector(pairs, Short8{}, 4, 12, 5, 13, 6, 14, 7, 15));
    const Float4 first = __builtin_convertvector(low, Float4);
    const Float4 second = __builtin_convertvector(high, Float4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}
#endif
#if defined(__AVX512F__)
template <class V>
    requires(sizeof(V) == sizeof(Float16))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    using Int16 = std::int32_t __attribute__((vector_size(64)));
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    // With a mask of ones: GCC 12 warns about the undefined lanes of the plain intrinsic.
    return __builtin_convertvector(std::bit_cast<Int16>(_mm512_maskz_cvtepu8_epi32(0xFFFF, sixteen)), V);
}
#endif

/// The same for fewer entries, `count`; what is missing reads as zero.
template <class V, class T>
[[gnu::always_inline]] inline V load_part(const T* from, std::size_t count) {
    float part[sizeof(V) / sizeof(float)] = {};
    for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<float>(from[i]);
    return load<V>(part);
}

/// Four entries of a row as doubles.
[[gnu::always_inline]] inline Double4 load_four(const float* from) {
    return __builtin_convertvector(load<Float4>(from), Double4);
}
[[gnu::always_inline]] inline Double4 load_four(const std::uint8_t* from) {
    return Double4{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
                   static_cast<double>(from[3])};
}

[[gnu::always_inline]] inline double sum_of(Float4 four) {
    return static_cast<double>((four[0] + four[2]) + (four[1] + four[3]));
}

/// The sum of N lanes, folded in halves: a fixed tree that needs few instructions for narrow rows. Fewer lanes are
/// more with zeros in the others, for adding zeros changes no bit.
template <class V, std::size_t N>
[[gnu::always_inline]] inline double sum_lanes(std::array<V, N> lanes) {
    for (std::size_t half = N / 2; half > 0; half /= 2)
        for (std::size_t v = 0; v < half; ++v) lanes[v] += lanes[v + half];
    float last[sizeof(V) / sizeof(float)];
    store(last, lanes[0]);
    auto eight = load<Float8>(last);
    if constexpr (sizeof(V) == sizeof(Float16)) eight += load<Float8>(last + 8);
    store(last, eight);
    return sum_of(load<Float4>(last) + load<Float4>(last + 4));
}

/// x . w in N vectors of lanes.
template <class V, std::size_t N, class T>
[[gnu::always_inline]] inline double lane_dot(const T* x, const float* w, std::size_t size) {
    constexpr std::size_t width = sizeof(V) / sizeof(float);
    std::array<V, N> lanes{};
    std::size_t j = 0;
    for (; j + N * width <= size; j += N * width)
        for (std::size_t v = 0; v < N; ++v)
            lanes[v] += load_row<V>(x + j + v * width) * load<V>(w + j + v * width);
    // Unrolled by hand: lanes that a loop counts through would live in memory.
    const auto add_rest = [&](std::size_t v) __attribute__((always_inline)) {
        const std::size_t at = j + v * width;
        if (at + width <= size)
            lanes[v] += load_row<V>(x + at) * load<V>(w + at);
        else if (at < size)
            lanes[v] += load_part<V>(x + at, size - at) * load_part<V>(w + at, size - at);
    };
    if (j < size) {
        add_rest(0);
        if constexpr (N > 1) add_rest(1);
        if constexpr (N > 2) add_rest(2);
        if constexpr (N > 2) add_rest(3);
    }
    return sum_lanes(lanes);
}

template <class T>
[[gnu::always_inline]] inline double narrow_or_wide_dot(const T* x, const float* w, std::size_t size) {
    if (size <= 16) return lane_dot<Float8, 2>(x, w, size);
    return lane_dot<Wide, float_lanes / wide_lanes>(x, w, size);
}

/// The side indexes the children instead of steering a branch: which way a row goes is a coin toss to
/// the processor, and a wrong guess costs more than the dot product of a narrow row. Rows advance
/// together, so that one row's arithmetic fills the waiting times of another's.
template <class V, std::size_t N, class T>
[[gnu::always_inline]] inline void walk_with(std::span<const T* const> rows, std::size_t size,
                                             const SplitArrays& splits, std::span<std::int32_t> at) {
    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (at[r] < 0) continue;
            const auto split = static_cast<std::size_t>(at[r]);
            const double score = lane_dot<V, N>(rows[r], splits.w + split * size, size) + splits.bias[split];
            at[r] = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
            is_moving = true;
        }
    }
}

/// x . w folded from the lanes of a padded row to four; `sum_four` does the rest.
[[gnu::always_inline]] inline Float4 fold_to_four(Float8 lanes) {
    return __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) + __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
}

/// Last steps of `sum_lanes` for four rows at once: the same additions, a quarter of the instructions.
[[gnu::always_inline]] inline Double4 sum_four(const Float4 part[4]) {
    const Float4 low = __builtin_shufflevector(part[0], part[1], 0, 1, 4, 5) +
                       __builtin_shufflevector(part[0], part[1], 2, 3, 6, 7);
    const Float4 high = __builtin_shufflevector(part[2], part[3], 0, 1, 4, 5) +
                        __builtin_shufflevector(part[2], part[3], 2, 3, 6, 7);
    const Float4 sums = __builtin_shufflevector(low, high, 0, 2, 4, 6) + __builtin_shufflevector(low, high, 1, 3, 5, 7);
    return __builtin_convertvector(sums, Double4);
}

/// Lanes of x . w over a narrow padded row of N vectors.
template <std::size_t N>
[[gnu::always_inline]] inline Float4 narrow_dot(const float* x, const float* w) {
    std::array<Float8, N> lanes;
    for (std::size_t v = 0; v < N; ++v) lanes[v] = Float8{} + load<Float8>(x + 8 * v) * load<Float8>(w + 8 * v);
    if constexpr (N == 4) {
        lanes[0] += lanes[2];
        lanes[1] += lanes[3];
    }
    if constexpr (N > 1) lanes[0] += lanes[1];
    return fold_to_four(lanes[0]);
}

/// x . w over a wide padded row.
[[gnu::always_inline]] inline double wide_dot(const float* x, const float* w, std::size_t size) {
    return lane_dot<Wide, float_lanes / wide_lanes>(x, w, size);
}

/// Rows that walk together where a step is short: a row mostly waits for memory and for its own sums.
constexpr std::size_t narrow_together = 16;

/// Calls walk_group(rows, at) for every `Count` rows; missing rows of the last group are at a leaf.
template <std::size_t Count, class WalkGroup>
[[gnu::always_inline]] inline void for_groups(std::span<const float* const> rows, std::span<std::int32_t> at,
                                              const WalkGroup& walk_group) {
    for (std::size_t first = 0; first < rows.size(); first += Count) {
        const std::size_t count = std::min(Count, rows.size() - first);
        const float* x[Count];
        std::int32_t now[Count];
        for (std::size_t r = 0; r < Count; ++r) {
            x[r] = rows[first + (r < count ? r : 0)];
            now[r] = r < count ? at[first + r] : -1;
        }
        walk_group(x, now);
        for (std::size_t r = 0; r < count; ++r) at[first + r] = now[r];
    }
}

/// Whether one of `Count` rows is at a split still.
template <std::size_t Count>
[[gnu::always_inline]] inline bool is_any_moving(const std::int32_t* at) {
    std::int32_t all = -1;
    for (std::size_t r = 0; r < Count; ++r) all &= at[r];
    return all >= 0;
}

/// Asks for the hyperplanes of both children, which lie side by side, before the side is known: a tree is
/// larger than the nearest cache.
template <std::size_t N>
[[gnu::always_inline]] inline void prefetch_children(const PaddedSplits& forest, const PackedSplit& split) {
    const float* w = forest.w + static_cast<std::size_t>(std::max(split.child[0], 0)) * (8 * N);
    __builtin_prefetch(w);
    __builtin_prefetch(w + 16);
}

/// Four rows take a step at once. A row at its leaf looks at split 0 in vain and stays by a choice of
/// values, not by a branch that would be guessed wrongly once a row.
template <std::size_t N>
[[gnu::always_inline]] inline void walk_narrow(const float* const (&x)[narrow_together], const PaddedSplits& forest,
                                               std::int32_t (&at)[narrow_together]) {
    while (is_any_moving<narrow_together>(at))
        for (std::size_t four = 0; four < narrow_together; four += 4) {
            if (!is_any_moving<4>(at + four)) continue;
            const PackedSplit* split[4];
            Float4 part[4];
            for (std::size_t r = 0; r < 4; ++r) {
                const auto number = static_cast<std::size_t>(std::max(at[four + r], 0));
                split[r] = forest.splits + number;
                part[r] = narrow_dot<N>(x[four + r], forest.w + number * (8 * N));
            }
            for (std::size_t r = 0; r < 4; ++r) prefetch_children<N>(forest, *split[r]);
            const Double4 bias{split[0]->bias, split[1]->bias, split[2]->bias, split[3]->bias};
            const auto is_right = sum_four(part) + bias >= 0.0;
            for (std::size_t r = 0; r < 4; ++r) {
                const std::int32_t next = split[r]->child[is_right[r] & 1];
                at[four + r] = at[four + r] < 0 ? at[four + r] : next;
            }
        }
}

template <std::size_t N>
[[gnu::always_inline]] inline void walk_all_narrow(std::span<const float* const> rows, const PaddedSplits& forest,
                                                   std::span<std::int32_t> at) {
    for_groups<narrow_together>(rows, at, [&](const auto& x, auto& now) { walk_narrow<N>(x, forest, now); });
}

/// A wide row fills the processor by itself; a few walk together to share the splits near the root.
[[gnu::always_inline]] inline void walk_wide(std::span<const float* const> rows, const PaddedSplits& forest,
                                             std::span<std::int32_t> at) {
    for_groups<walk_rows>(rows, at, [&](const auto& x, auto& now) {
        while (is_any_moving<walk_rows>(now))
            for (std::size_t r = 0; r < walk_rows; ++r) {
                if (now[r] < 0) continue;
                const auto number = static_cast<std::size_t>(now[r]);
                const float* w = forest.w + number * forest.stride;
                const double score = wide_dot(x[r], w, forest.stride) + forest.splits[number].bias;
                now[r] = forest.splits[number].child[static_cast<std::size_t>(score >= 0.0)];
            }
    });
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

/// Reads and writes consecutive entries of a row, as many as a vector has lanes.
struct Whole {
    template <class T>
    [[gnu::always_inline]] static Wide read(const T* from) {
        return load_row<Wide>(from);
    }
    [[gnu::always_inline]] static void write(float* to, Wide v) { store(to, v); }
};
/// The same for the last entries of a row, fewer than a vector has lanes; what is missing reads as zero.
struct Part {
    std::size_t count;
    template <class T>
    [[gnu::always_inline]] Wide read(const T* from) const {
        return load_part<Wide>(from, count);
    }
    [[gnu::always_inline]] void write(float* to, Wide v) const {
        for (std::size_t i = 0; i < count; ++i) to[i] = v[i];
    }
};

/// Vectors of sixteen lanes, whatever a register holds: what is summed over them is the same at every level.
constexpr std::size_t n_parts = 16 / wide_lanes;
using Sixteen = std::array<Wide, n_parts>;

/// visit(access, j, part) for each vector of a row: `access` reads and writes at an offset of j.
template <class Visit>
[[gnu::always_inline]] inline void for_vectors(std::size_t size, const Visit& visit) {
    std::size_t j = 0;
    for (; j + 16 <= size; j += 16) {
        visit(Whole{}, j, 0);
        if constexpr (n_parts == 2) visit(Whole{}, j + wide_lanes, 1);
    }
    const auto visit_rest = [&](std::size_t at, std::size_t part) __attribute__((always_inline)) {
        if (at + wide_lanes <= size)
            visit(Whole{}, at, part);
        else if (at < size)
            visit(Part{size - at}, at, part);
    };
    visit_rest(j, 0);
    if constexpr (n_parts == 2) visit_rest(j + wide_lanes, 1);
}

/// sign(v) max(|v| - t, 0), lane by lane: v - clamp(v, -t, t).
[[gnu::always_inline]] inline Wide soft_threshold(Wide v, Wide t) {
    const Wide below = v < -t ? -t : v;
    return v - (below > t ? t : below);
}

/// Rows and slopes of one step, copied: stores to the hyperplane could otherwise change them as far as
/// the compiler knows, and it would read them again for every vector.
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
    [[gnu::always_inline]] Wide gradient(const StreamVectors& v, const Access& access, std::size_t j) const {
        Wide sum = slopes[0] * access.read(rows[0] + j);
        for (std::size_t k = 1; k < Count; ++k) sum += slopes[k] * access.read(rows[k] + j);
        return (sum - total * access.read(v.mean + j)) * access.read(v.metric + j);
    }
};

template <std::size_t Count, class T>
[[gnu::always_inline]] inline double stream_step_of(const StreamVectors v, const Batch<Count, T> batch, float step,
                                                    float inverse_rows) {
    constexpr auto repeats = static_cast<float>(Count);
    const float keep = Count == 1 ? v.keep : v.keep * v.keep * v.keep * v.keep;
    Sixteen centre{};
    for_vectors(v.size, [&](const auto& access, std::size_t j, std::size_t part) __attribute__((always_inline)) {
        const Wide fresh = batch.gradient(v, access, j);
        const Wide gradient = access.read(v.gradient + j);
        const Wide moved = access.read(v.w + j) - step * (fresh + repeats * gradient);
        const Wide next = soft_threshold(moved * keep, repeats * access.read(v.threshold + j));
        access.write(v.gradient + j, gradient + fresh * inverse_rows);
        access.write(v.w + j, next);
        centre[part] += next * access.read(v.mean + j);
    });
    return sum_lanes(centre);
}

template <std::size_t Count, class T>
[[gnu::always_inline]] inline void add_gradient_of(const StreamVectors v, const Batch<Count, T> batch) {
    for_vectors(v.size, [&](const auto& access, std::size_t j, std::size_t) __attribute__((always_inline)) {
        access.write(v.gradient + j, access.read(v.gradient + j) + batch.gradient(v, access, j));
    });
}

template <class T>
[[gnu::always_inline]] inline void walk_of(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits,
                                           std::span<std::int32_t> at) {
    if (size <= 16)
        walk_with<Float8, 2, T>(rows, size, splits, at);
    else
        walk_with<Wide, float_lanes / wide_lanes, T>(rows, size, splits, at);
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

double dot(std::span<const float> x, const float* w) { return narrow_or_wide_dot(x.data(), w, x.size()); }
double dot(std::span<const std::uint8_t> x, const float* w) { return narrow_or_wide_dot(x.data(), w, x.size()); }

double dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    LaneSum sum;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto j = static_cast<std::size_t>(indices[k]);
        sum.add(j, values[k] * w[j]);
    }
    return sum.total();
}

void walk(std::span<const float* const> rows, std::size_t size, const SplitArrays& splits,
                         std::span<std::int32_t> at) {
    walk_of(rows, size, splits, at);
}
void walk(std::span<const std::uint8_t* const> rows, std::size_t size, const SplitArrays& splits,
                         std::span<std::int32_t> at) {
    walk_of(rows, size, splits, at);
}

void walk(std::span<const float* const> rows, const PaddedSplits& forest, std::span<std::int32_t> at) {
    if (forest.stride == 8)
        walk_all_narrow<1>(rows, forest, at);
    else if (forest.stride == 16)
        walk_all_narrow<2>(rows, forest, at);
    else if (forest.stride == 32)
        walk_all_narrow<4>(rows, forest, at);
    else
        walk_wide(rows, forest, at);
}

void walk(std::span<const float* const> rows, const SparseSplits& forest, std::span<std::int32_t> at) {
    for (std::size_t r = 0; r < rows.size(); ++r)
        while (at[r] >= 0) {
            const auto split = static_cast<std::size_t>(at[r]);
            const std::size_t begin = forest.begin[split];
            const std::size_t size = forest.begin[split + 1] - begin;
            const double sum = dot(std::span(forest.indices + begin, size), forest.weights + begin, rows[r]);
            at[r] = forest.splits[split].child[static_cast<std::size_t>(sum + forest.splits[split].bias >= 0.0)];
        }
}

void walk(std::span<const float* const> rows, std::span<const PackedAxis> forest,
                         std::span<std::int32_t> at) {
    for_groups<narrow_together>(rows, at, [&](const auto& x, auto& now) {
        while (is_any_moving<narrow_together>(now))
            for (std::size_t r = 0; r < narrow_together; ++r) {
                const PackedAxis& split = forest[static_cast<std::size_t>(std::max(now[r], 0))];
                const double score = static_cast<double>(split.weight * x[r][split.feature]) + split.bias;
                now[r] = now[r] < 0 ? now[r] : split.child[static_cast<std::size_t>(score >= 0.0)];
            }
    });
}

void padded_scores(const float* x, const float* w, std::size_t stride, std::span<const double> bias,
                                  double* out) {
    for (std::size_t k = 0; k < bias.size(); ++k) {
        const float* w_k = w + k * stride;
        double score = 0.0;
        if (stride == 8)
            score = sum_of(narrow_dot<1>(x, w_k));
        else if (stride == 16)
            score = sum_of(narrow_dot<2>(x, w_k));
        else if (stride == 32)
            score = sum_of(narrow_dot<4>(x, w_k));
        else
            score = wide_dot(x, w_k, stride);
        out[k] = score + bias[k];
    }
}

void softmax(std::span<double> scores) {
    double largest = scores[0];
    for (double score : scores) largest = std::max(largest, score);
    for (std::size_t k = 0; k < scores.size(); k += 4) {
        const std::size_t count = std::min<std::size_t>(4, scores.size() - k);
        double part[4] = {};
        for (std::size_t i = 0; i < count; ++i) part[i] = scores[k + i] - largest;
        const auto below = load<Double4>(part);
        // A class that is never seen has a score of -1e200: its odds are zero, not the least that exp gives.
        store(part, below < -700.0 ? Double4{} : exp_negative(below));
        std::copy_n(part, count, scores.data() + k);
    }
    double total = 0.0;
    for (double odds : scores) total += odds;
    for (double& odds : scores) odds /= total;
}

double stream_step(const StreamVectors& v, const float* const rows[4], const float change[4],
                                  std::size_t count, float step, float inverse_rows) {
    return any_stream_step(v, rows, change, count, step, inverse_rows);
}
double stream_step(const StreamVectors& v, const std::uint8_t* const rows[4], const float change[4],
                                  std::size_t count, float step, float inverse_rows) {
    return any_stream_step(v, rows, change, count, step, inverse_rows);
}

void add_gradient(const StreamVectors& v, const float* const rows[4], const float slope[4],
                                 std::size_t count) {
    add_any_gradient(v, rows, slope, count);
}
void add_gradient(const StreamVectors& v, const std::uint8_t* const rows[4], const float slope[4],
                                 std::size_t count) {
    add_any_gradient(v, rows, slope, count);
}

void standardise(std::span<const float> x, const double* mean, const double* inverse_scale, double* z) {
    standardise_any(x, mean, inverse_scale, z);
}
void standardise(std::span<const std::uint8_t> x, const double* mean, const double* inverse_scale,
                                double* z) {
    standardise_any(x, mean, inverse_scale, z);
}

/// visit(t, first, count) for every four numbers; the last may be fewer, and zeros stand for the others.
template <class Visit>
[[gnu::always_inline]] inline void for_fours(std::span<const double> t, const Visit& visit) {
    for (std::size_t n = 0; n < t.size(); n += 4) {
        const std::size_t count = std::min<std::size_t>(4, t.size() - n);
        double part[4] = {};
        std::copy_n(t.data() + n, count, part);
        visit(load<Double4>(part), n, count);
    }
}

[[gnu::always_inline]] inline void store_part(double* to, Double4 v, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = v[i];
}

/// 1 / (1 + exp(-t)) where u = exp(-|t|).
[[gnu::always_inline]] inline Double4 probability(Double4 t, Double4 u) {
    const Double4 small = u / (1.0 + u);
    return t < 0.0 ? small : 1.0 - small;
}

void logistic(std::span<const double> t, double* p, double* loss) {
    for_fours(t, [&](Double4 at, std::size_t n, std::size_t count) __attribute__((always_inline)) {
        const Double4 u = exp_negative(at < 0.0 ? at : -at);
        store_part(p + n, probability(at, u), count);
        store_part(loss + n, (at < 0.0 ? -at : Double4{}) + log1p_unit(u), count);
    });
}

void sigmoid(std::span<double> t) {
    for_fours(t, [&](Double4 at, std::size_t n, std::size_t count) __attribute__((always_inline)) {
        store_part(t.data() + n, probability(at, exp_negative(at < 0.0 ? at : -at)), count);
    });
}

void add_hessian(const double* z, std::size_t n_rows, std::size_t stride, const double* h,
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

void block_scores(const double* z, std::size_t n_rows, std::size_t stride,
                                 const double* w, double bias, double* out) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        Double4 lanes{};
        for (std::size_t j = 0; j < stride; j += 4) lanes += load<Double4>(z + r * stride + j) * load<Double4>(w + j);
        out[r] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + bias;
    }
}

void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride,
                                       const double* slopes, double* out) {
    for (std::size_t j = 0; j < stride; j += 4) {
        Double4 sum = load<Double4>(out + j);
        for (std::size_t r = 0; r < n_rows; ++r) sum += slopes[r] * load<Double4>(z + r * stride + j);
        store(out + j, sum);
    }
}

constexpr Kernels kernels{
    .dot_floats = dot,
    .dot_bytes = dot,
    .dot_sparse = dot,
    .walk_floats = walk,
    .walk_bytes = walk,
    .walk_padded = walk,
    .walk_sparse = walk,
    .walk_axis = walk,
    .padded_scores = padded_scores,
    .softmax = softmax,
    .step_floats = stream_step,
    .step_bytes = stream_step,
    .add_floats = add_gradient,
    .add_bytes = add_gradient,
    .standardise_floats = standardise,
    .standardise_bytes = standardise,
    .logistic = logistic,
    .sigmoid = sigmoid,
    .add_hessian = add_hessian,
    .block_scores = block_scores,
    .add_block_gradient = add_block_gradient,
};

}  // namespace
}  // namespace spinney::simd
