#pragma once
/// Rows on their way down a tree or a packed forest.

#include <algorithm>
#include <span>

#include "simd/dot.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

/// Calls walk_group(rows, at) for every `Count` rows; missing rows of the last group are at a leaf.
template <std::size_t Count, class T, class WalkGroup>
[[gnu::always_inline]] inline void for_groups(std::span<const T* const> rows, std::span<std::int32_t> at,
                                              const WalkGroup& walk_group) {
    for (std::size_t first = 0; first < rows.size(); first += Count) {
        const std::size_t count = std::min(Count, rows.size() - first);
        const T* x[Count];
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

/// The splits of a tree under training and of a packed forest, as walks read them.
struct OpenTree {
    const SplitArrays& splits;
    [[nodiscard]] const float* w() const { return splits.w; }
    [[nodiscard]] double bias(std::size_t split) const { return splits.bias[split]; }
    [[nodiscard]] const std::int32_t* child(std::size_t split) const { return splits.child + 2 * split; }
    void prefetch_children(std::size_t, std::size_t) const {}
};
struct PackedForest {
    const PaddedSplits& forest;
    [[nodiscard]] const float* w() const { return forest.w; }
    [[nodiscard]] double bias(std::size_t split) const { return forest.splits[split].bias; }
    [[nodiscard]] const std::int32_t* child(std::size_t split) const { return forest.splits[split].child; }
    /// Asks for the hyperplanes of both children, which lie side by side, before the side is known: a forest is
    /// larger than the nearest cache.
    void prefetch_children(std::size_t split, std::size_t size) const {
        const float* first = forest.w + static_cast<std::size_t>(std::max(child(split)[0], 0)) * size;
        __builtin_prefetch(first);
        __builtin_prefetch(first + 16);
    }
};

/// Rows that walk together where a step is short: a row mostly waits for memory and for its own sums, and one row's
/// arithmetic fills the waiting times of another's.
constexpr std::size_t narrow_together = walk_rows(8);
constexpr std::size_t wide_together = walk_rows(64);

/// Four rows take a step at once. A row at its leaf looks at split 0 in vain and stays by a choice of
/// values, not by a branch that would be guessed wrongly once a row.
template <std::size_t N, class T, class Splits>
[[gnu::always_inline]] inline void walk_narrow(std::span<const T* const> rows, const Splits& splits, std::span<std::int32_t> at) {
    for_groups<narrow_together>(rows, at, [&](const auto& x, auto& now) {
        while (is_any_moving<narrow_together>(now))
            for (std::size_t four = 0; four < narrow_together; four += 4) {
                if (!is_any_moving<4>(now + four)) continue;
                std::size_t split[4];
                Float4 part[4];
                for (std::size_t r = 0; r < 4; ++r) {
                    split[r] = static_cast<std::size_t>(std::max(now[four + r], 0));
                    part[r] = narrow_dot<N>(x[four + r], splits.w() + split[r] * (8 * N));
                }
                for (std::size_t r = 0; r < 4; ++r) splits.prefetch_children(split[r], 8 * N);
                const Double4 bias{splits.bias(split[0]), splits.bias(split[1]), splits.bias(split[2]), splits.bias(split[3])};
                const auto is_right = sum_four(part) + bias >= 0.0;
                for (std::size_t r = 0; r < 4; ++r) {
                    const std::int32_t next = splits.child(split[r])[is_right[r] & 1];
                    now[four + r] = now[four + r] < 0 ? now[four + r] : next;
                }
            }
    });
}

/// A wide row fills the processor by itself; a few walk together to share the splits near the root. The side indexes the
/// children instead of steering a branch: which way a row goes is a coin toss to the processor.
template <class T, class Splits>
[[gnu::always_inline]] inline void walk_wide(std::span<const T* const> rows, std::size_t size, const Splits& splits,
                                             std::span<std::int32_t> at) {
    for_groups<wide_together>(rows, at, [&](const auto& x, auto& now) {
        while (is_any_moving<wide_together>(now))
            for (std::size_t r = 0; r < wide_together; ++r) {
                if (now[r] < 0) continue;
                const auto split = static_cast<std::size_t>(now[r]);
                const double score = wide_dot(x[r], splits.w() + split * size, size) + splits.bias(split);
                now[r] = splits.child(split)[static_cast<std::size_t>(score >= 0.0)];
            }
    });
}

/// Rows of any width; those that are padded walk fastest.
template <class T, class Splits>
[[gnu::always_inline]] inline void walk_full(std::span<const T* const> rows, std::size_t size, const Splits& splits,
                                             std::span<std::int32_t> at) {
    if (size == 8)
        walk_narrow<1>(rows, splits, at);
    else if (size == 16)
        walk_narrow<2>(rows, splits, at);
    else if (size == 32)
        walk_narrow<4>(rows, splits, at);
    else
        walk_wide(rows, size, splits, at);
}

template <class T>
void walk(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits, std::span<std::int32_t> at) {
    walk_full(rows, size, OpenTree{splits}, at);
}

void walk_padded(std::span<const float* const> rows, const PaddedSplits& forest, std::span<std::int32_t> at) {
    walk_full(rows, forest.stride, PackedForest{forest}, at);
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
