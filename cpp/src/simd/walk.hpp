#pragma once
/// Rows on their way down a tree or a packed forest.

#include <algorithm>
#include <span>

#include "simd/dot.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

/// The side indexes the children instead of steering a branch: which way a row goes is a coin toss to
/// the processor, and a wrong guess costs more than the dot product of a narrow row. Rows advance
/// together, so that one row's arithmetic fills the waiting times of another's.
template <class V, std::size_t N, class T>
[[gnu::always_inline]] inline void walk_with(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits,
                                             std::span<std::int32_t> at) {
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

/// Down one tree with full hyperplanes.
template <class T>
void walk(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits, std::span<std::int32_t> at) {
    if (size <= 16)
        walk_with<Float8, 2, T>(rows, size, splits, at);
    else
        walk_with<Wide, float_lanes / wide_lanes, T>(rows, size, splits, at);
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

void walk_padded(std::span<const float* const> rows, const PaddedSplits& forest, std::span<std::int32_t> at) {
    if (forest.stride == 8)
        walk_all_narrow<1>(rows, forest, at);
    else if (forest.stride == 16)
        walk_all_narrow<2>(rows, forest, at);
    else if (forest.stride == 32)
        walk_all_narrow<4>(rows, forest, at);
    else
        walk_wide(rows, forest, at);
}

void walk_sparse(std::span<const float* const> rows, const SparseSplits& forest, std::span<std::int32_t> at) {
    for (std::size_t r = 0; r < rows.size(); ++r)
        while (at[r] >= 0) {
            const auto split = static_cast<std::size_t>(at[r]);
            const std::size_t begin = forest.begin[split];
            const std::size_t size = forest.begin[split + 1] - begin;
            const double sum = sparse_dot(std::span(forest.indices + begin, size), forest.weights + begin, rows[r]);
            at[r] = forest.splits[split].child[static_cast<std::size_t>(sum + forest.splits[split].bias >= 0.0)];
        }
}

void walk_axis(std::span<const float* const> rows, std::span<const PackedAxis> forest, std::span<std::int32_t> at) {
    for_groups<narrow_together>(rows, at, [&](const auto& x, auto& now) {
        while (is_any_moving<narrow_together>(now))
            for (std::size_t r = 0; r < narrow_together; ++r) {
                const PackedAxis& split = forest[static_cast<std::size_t>(std::max(now[r], 0))];
                const double score = static_cast<double>(split.weight * x[r][split.feature]) + split.bias;
                now[r] = now[r] < 0 ? now[r] : split.child[static_cast<std::size_t>(score >= 0.0)];
            }
    });
}

}  // namespace
}  // namespace spinney::simd
