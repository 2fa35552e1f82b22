#pragma once
/// Standardised rows in double precision, and sums over blocks of them.

#include <algorithm>
#include <array>
#include <span>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

template <class T>
void standardise(std::span<const T> x, const double* mean, const double* inverse_scale, double* z) {
    std::size_t j = 0;
    for (; j + 8 <= x.size(); j += 8)
        store(z + j, (load_eight(x.data() + j) - load<Double8>(mean + j)) * load<Double8>(inverse_scale + j));
    for (; j + 4 <= x.size(); j += 4) {
        const Double4 wide = load_four(x.data() + j);
        store(z + j, (wide - load<Double4>(mean + j)) * load<Double4>(inverse_scale + j));
    }
    for (; j < x.size(); ++j) z[j] = (static_cast<double>(x[j]) - mean[j]) * inverse_scale[j];
}

/// Entries of four rows and as many columns as `Vectors` registers hold, from (i, j) on: eight sums that no step waits for.
template <std::size_t Vectors>
[[gnu::always_inline]] inline void add_tile(const double* z, const double* weighted, std::size_t n_rows, std::size_t stride,
                                            std::size_t i, std::size_t j, double* hessian) {
    constexpr std::size_t height = 4;
    Doubles sums[height][Vectors] = {};
    for (std::size_t r = 0; r < n_rows; ++r) {
        const double* left = z + r * stride + i;
        const double* right = weighted + r * stride + j;
        for (std::size_t a = 0; a < height; ++a)
            for (std::size_t v = 0; v < Vectors; ++v) sums[a][v] += left[a] * load<Doubles>(right + v * double_lanes);
    }
    for (std::size_t a = 0; a < height; ++a)
        for (std::size_t v = 0; v < Vectors; ++v) {
            double* out = hessian + (i + a) * stride + j + v * double_lanes;
            store(out, load<Doubles>(out) + sums[a][v]);
        }
}

void add_hessian(const double* z, const double* weighted, std::size_t n_rows, std::size_t stride, double* hessian) {
    for (std::size_t i = 0; i < stride; i += 4) {
        std::size_t j = i / double_lanes * double_lanes;
        for (; j + 2 * double_lanes <= stride; j += 2 * double_lanes) add_tile<2>(z, weighted, n_rows, stride, i, j, hessian);
        if (j < stride) add_tile<1>(z, weighted, n_rows, stride, i, j, hessian);
    }
}

void weigh_block(const double* z, std::size_t n_rows, std::size_t stride, const double* h, double* weighted, double* sum) {
    for (std::size_t j = 0; j < stride; j += double_lanes) {
        Doubles total{};
        for (std::size_t r = 0; r < n_rows; ++r) {
            const Doubles product = h[r] * load<Doubles>(z + r * stride + j);
            store(weighted + r * stride + j, product);
            total += product;
        }
        store(sum + j, load<Doubles>(sum + j) + total);
    }
}

/// Last steps of the scores of four rows at once.
[[gnu::always_inline]] inline Double4 sum_four(const Double4 part[4]) {
    const Double4 low =
        __builtin_shufflevector(part[0], part[1], 0, 1, 4, 5) + __builtin_shufflevector(part[0], part[1], 2, 3, 6, 7);
    const Double4 high =
        __builtin_shufflevector(part[2], part[3], 0, 1, 4, 5) + __builtin_shufflevector(part[2], part[3], 2, 3, 6, 7);
    return __builtin_shufflevector(low, high, 0, 2, 4, 6) + __builtin_shufflevector(low, high, 1, 3, 5, 7);
}

void block_scores(const double* z, std::size_t n_rows, std::size_t stride, const double* w, double bias, double* out) {
    for (std::size_t first = 0; first < n_rows; first += 4) {
        Double4 part[4];
        for (std::size_t k = 0; k < 4; ++k) {
            const double* row = z + std::min(first + k, n_rows - 1) * stride;
            Double8 lanes{};
            for (std::size_t j = 0; j < stride; j += 8) lanes += load<Double8>(row + j) * load<Double8>(w + j);
            part[k] = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) + __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
        }
        const Double4 scores = sum_four(part) + bias;
        if (first + 4 <= n_rows)
            store(out + first, scores);
        else
            for (std::size_t k = 0; first + k < n_rows; ++k) out[first + k] = scores[k];
    }
}

void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride, const double* slopes, double* out) {
    for (std::size_t j = 0; j < stride; j += double_lanes) {
        Doubles sum{};
        for (std::size_t r = 0; r < n_rows; ++r) sum += slopes[r] * load<Doubles>(z + r * stride + j);
        store(out + j, load<Doubles>(out + j) + sum);
    }
}

}  // namespace
}  // namespace spinney::simd
