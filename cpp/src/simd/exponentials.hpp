#pragma once
/// Exponentials and logarithms, and the probabilities and losses made of them.

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

/// exp(x) for x <= 0 to about 1e-13, without calling libm: libm differs between machines.
template <class V>
[[gnu::always_inline]] inline V exp_negative(V x) {
    using Bits = decltype(x < x);  // whole numbers of the same width
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 0.693147180369123816490;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    x = x < -700.0 ? V{} - 700.0 : x;
    const V shifted = x * log2_e + shift;
    const V k = shifted - shift;
    const V r = (x - k * ln2_high) - k * ln2_low;
    V series = V{} + 1.0 / 39916800.0;
    for (double factorial : {3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0})
        series = series * r + 1.0 / factorial;
    const Bits exponent = (std::bit_cast<Bits>(shifted) + 1023) << 52;
    return series * std::bit_cast<V>(exponent);
}

/// log(1 + u) for 0 <= u <= 1 to about 1e-12: twice the series of atanh(u / (2 + u)).
template <class V>
[[gnu::always_inline]] inline V log1p_unit(V u) {
    const V t = u / (2.0 + u);
    const V t2 = t * t;
    V series = V{} + 1.0 / 23.0;
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

/// to[k][n] = visit(t[n])[k] for all numbers, as many at once as a register holds.
template <std::size_t Count, class Visit>
[[gnu::always_inline]] inline void map_numbers(std::span<const double> t, const std::array<double*, Count>& to,
                                               const Visit& visit) {
    std::size_t n = 0;
    for (; n + double_lanes <= t.size(); n += double_lanes) {
        const std::array<Doubles, Count> results = visit(load<Doubles>(t.data() + n));
        for (std::size_t k = 0; k < Count; ++k) store(to[k] + n, results[k]);
    }
    if (n == t.size()) return;
    double part[double_lanes] = {};
    std::copy(t.begin() + static_cast<std::ptrdiff_t>(n), t.end(), part);
    const std::array<Doubles, Count> results = visit(load<Doubles>(part));
    for (std::size_t k = 0; k < Count; ++k)
        for (std::size_t i = 0; n + i < t.size(); ++i) to[k][n + i] = results[k][i];
}

/// 1 / (1 + exp(-t)) where u = exp(-|t|).
[[gnu::always_inline]] inline Doubles probability(Doubles t, Doubles u) {
    const Doubles small = u / (1.0 + u);
    return t < 0.0 ? small : 1.0 - small;
}

void logistic(std::span<const double> t, double* p, double* loss) {
    map_numbers<2>(t, {p, loss}, [](Doubles at) __attribute__((always_inline)) {
        const Doubles u = exp_negative(at < 0.0 ? at : -at);
        return std::array{probability(at, u), (at < 0.0 ? -at : Doubles{}) + log1p_unit(u)};
    });
}

void sigmoid(std::span<double> t) {
    map_numbers<1>(t, {t.data()}, [](Doubles at) __attribute__((always_inline)) {
        return std::array{probability(at, exp_negative(at < 0.0 ? at : -at))};
    });
}

}  // namespace
}  // namespace spinney::simd
