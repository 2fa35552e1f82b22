#pragma once
/// Random numbers that depend on (seed, place) only, never on the order in which threads ask.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace spinney {

/// SplitMix64's finaliser: a bijection on 64 bits with good avalanche.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

/// A stream of numbers keyed by up to three coordinates, such as (seed, sweep, node).
class Random {
  public:
    explicit constexpr Random(std::uint64_t seed, std::uint64_t a = 0, std::uint64_t b = 0) : key_(mix(mix(mix(seed) ^ a) ^ b)) {}

    [[nodiscard]] constexpr std::uint64_t next() { return mix(key_ + 0x9E3779B97F4A7C15ULL * counter_++); }

    /// Uniform in [0, 1).
    [[nodiscard]] constexpr double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    /// Uniform in {0, ..., n-1}; the bias of the multiply-shift is below n / 2^32.
    [[nodiscard]] constexpr std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U);
    }

    /// Standard normal (Box-Muller).
    [[nodiscard]] double normal() {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }

    /// Random order of all values (Fisher-Yates).
    template <class T>
    void shuffle(std::span<T> values) {
        for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[below(static_cast<std::uint32_t>(k))]);
    }
    /// Random values, without replacement, in the first `count` places.
    template <class T>
    void draw_first(std::size_t count, std::span<T> values) {
        for (std::size_t k = 0; k < count; ++k)
            std::swap(values[k], values[k + below(static_cast<std::uint32_t>(values.size() - k))]);
    }

  private:
    std::uint64_t key_;
    std::uint64_t counter_ = 0;
};

}  // namespace spinney
