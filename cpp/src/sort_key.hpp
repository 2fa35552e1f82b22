#pragma once
/// Sorting entries by a float as whole numbers, which is faster: the value above, the place of the entry below.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace spinney {

/// Bits of a float as a number of the same order; -0 comes before 0.
[[nodiscard]] inline std::uint32_t ordered_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits >> 31U) != 0 ? ~bits : bits | (1U << 31U);
}

/// Keys ascend by value, and for one value by place.
[[nodiscard]] inline std::uint64_t sort_key(float value, std::size_t place) {
    return std::uint64_t{ordered_bits(value)} << 32U | place;
}
[[nodiscard]] inline std::uint32_t place_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

}  // namespace spinney
