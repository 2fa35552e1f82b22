#pragma once
/// Streams of random numbers within one seed. They must not meet each other, nor the sweeps of the splits, which are numbered
/// from 0.

#include <cstdint>

namespace spinney {

inline constexpr std::uint64_t start_stream = 1ULL << 62U;   ///< the first hyperplanes
inline constexpr std::uint64_t leaf_stream = 1ULL << 61U;    ///< refits of leaves, plus the number of the sweep
inline constexpr std::uint64_t column_stream = 1ULL << 60U;  ///< columns that a split may use

}  // namespace spinney
