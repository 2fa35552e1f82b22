#pragma once
/// Standardised rows in double precision, and sums over blocks of them.

#include <span>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

template <class T>
void standardise(std::span<const T> x, const double* mean, const double* inverse_scale, double* z) {
    std::size_t j = 0;
    for (; j + 4 <= x.size(); j += 4) {
        const Double4 wide = load_four(x.data() + j);
        store(z + j, (wide - load<Double4>(mean + j)) * load<Double4>(inverse_scale + j));
    }
    for (; j < x.size(); ++j) z[j] = (static_cast<double>(x[j]) - mean[j]) * inverse_scale[j];
}

void add_hessian(const double* z, std::size_t n_rows, std::size_t stride, const double* h, double* hessian) {
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

void block_scores(const double* z, std::size_t n_rows, std::size_t stride, const double* w, double bias, double* out) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        Double4 lanes{};
        for (std::size_t j = 0; j < stride; j += 4) lanes += load<Double4>(z + r * stride + j) * load<Double4>(w + j);
        out[r] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + bias;
    }
}

void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride, const double* slopes, double* out) {
    for (std::size_t j = 0; j < stride; j += 4) {
        Double4 sum = load<Double4>(out + j);
        for (std::size_t r = 0; r < n_rows; ++r) sum += slopes[r] * load<Double4>(z + r * stride + j);
        store(out + j, sum);
    }
}

}  // namespace
}  // namespace spinney::simd
