#pragma once
/// Exponentials and logarithms, and the probabilities and losses made of them.

#include <algorithm>
#include <bit>
#include <span>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

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
    for (double odd : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) series = series * t2 + 1.0 / odd;
    return 2.0 * t * series;
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

}  // namespace
}  // namespace spinney::simd
