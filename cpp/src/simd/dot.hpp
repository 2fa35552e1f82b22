#pragma once
/// Dot products: sums over lanes in a fixed order.

#include <array>
#include <span>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

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
        for (std::size_t v = 0; v < N; ++v) lanes[v] += load_row<V>(x + j + v * width) * load<V>(w + j + v * width);
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

double sparse_dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    LaneSum sum;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto j = static_cast<std::size_t>(indices[k]);
        sum.add(j, values[k] * w[j]);
    }
    return sum.total();
}

/// x . w folded from the lanes of a padded row to four; `sum_four` does the rest.
[[gnu::always_inline]] inline Float4 fold_to_four(Float8 lanes) {
    return __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) + __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
}

/// Last steps of `sum_lanes` for four rows at once: the same additions, a quarter of the instructions.
[[gnu::always_inline]] inline Double4 sum_four(const Float4 part[4]) {
    const Float4 low =
        __builtin_shufflevector(part[0], part[1], 0, 1, 4, 5) + __builtin_shufflevector(part[0], part[1], 2, 3, 6, 7);
    const Float4 high =
        __builtin_shufflevector(part[2], part[3], 0, 1, 4, 5) + __builtin_shufflevector(part[2], part[3], 2, 3, 6, 7);
    const Float4 sums = __builtin_shufflevector(low, high, 0, 2, 4, 6) + __builtin_shufflevector(low, high, 1, 3, 5, 7);
    return __builtin_convertvector(sums, Double4);
}

/// Lanes of x . w over a narrow padded row of N vectors.
template <std::size_t N, class T>
[[gnu::always_inline]] inline Float4 narrow_dot(const T* x, const float* w) {
    std::array<Float8, N> lanes;
    for (std::size_t v = 0; v < N; ++v) lanes[v] = Float8{} + load_row<Float8>(x + 8 * v) * load<Float8>(w + 8 * v);
    if constexpr (N == 4) {
        lanes[0] += lanes[2];
        lanes[1] += lanes[3];
    }
    if constexpr (N > 1) lanes[0] += lanes[1];
    return fold_to_four(lanes[0]);
}

/// x . w over a wide row.
template <class T>
[[gnu::always_inline]] inline double wide_dot(const T* x, const float* w, std::size_t size) {
    return lane_dot<Wide, float_lanes / wide_lanes>(x, w, size);
}

/// x . w of a row of any width; narrow rows that are padded need no loop.
template <class T>
[[gnu::always_inline]] inline double row_dot(const T* x, const float* w, std::size_t size) {
    if (size == 8) return sum_of(narrow_dot<1>(x, w));
    if (size == 16) return sum_of(narrow_dot<2>(x, w));
    if (size == 32) return sum_of(narrow_dot<4>(x, w));
    if (size < 16) return lane_dot<Float8, 2>(x, w, size);
    return wide_dot(x, w, size);
}

template <class T>
double dot(std::span<const T> x, const float* w) {
    return row_dot(x.data(), w, x.size());
}

void padded_scores(const float* x, const float* w, std::size_t stride, std::span<const double> bias, double* out) {
    for (std::size_t k = 0; k < bias.size(); ++k) out[k] = row_dot(x, w + k * stride, stride) + bias[k];
}

}  // namespace
}  // namespace spinney::simd
