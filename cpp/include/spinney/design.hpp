#pragma once
/// The rows of a data matrix, dense or sparse, behind one set of operations.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/simd.hpp"

namespace spinney {

/// Row-major float32 matrix, borrowed.
struct DenseRows {
    const float* values = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;

    [[nodiscard]] std::span<const float> row(std::size_t n) const {
        return {values + n * n_features, n_features};
    }
    [[nodiscard]] double dot(std::size_t n, const float* w) const { return spinney::dot(row(n), w); }

    template <class Visit>
    void for_each(std::size_t n, Visit&& visit) const {
        const auto x = row(n);
        for (std::size_t j = 0; j < n_features; ++j) visit(j, x[j]);
    }
};

/// Compressed sparse rows with ascending column indices, borrowed.
struct SparseRows {
    const std::int64_t* indptr = nullptr;
    const std::int32_t* indices = nullptr;
    const float* values = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;

    [[nodiscard]] std::size_t begin(std::size_t n) const { return static_cast<std::size_t>(indptr[n]); }
    [[nodiscard]] std::size_t size(std::size_t n) const {
        return static_cast<std::size_t>(indptr[n + 1] - indptr[n]);
    }
    [[nodiscard]] std::span<const std::int32_t> columns(std::size_t n) const {
        return {indices + begin(n), size(n)};
    }
    [[nodiscard]] std::span<const float> entries(std::size_t n) const { return {values + begin(n), size(n)}; }
    [[nodiscard]] double dot(std::size_t n, const float* w) const {
        return spinney::dot(columns(n), values + begin(n), w);
    }

    template <class Visit>
    void for_each(std::size_t n, Visit&& visit) const {
        const auto columns_of_row = columns(n);
        const auto entries_of_row = entries(n);
        for (std::size_t k = 0; k < columns_of_row.size(); ++k)
            visit(static_cast<std::size_t>(columns_of_row[k]), entries_of_row[k]);
    }
};

/// Leaf that row n reaches from `start`.
[[nodiscard]] inline std::size_t walk_row(const DenseRows& rows, std::size_t n, const SplitArrays& splits,
                                          std::int32_t start) {
    return walk(rows.row(n), splits, start);
}
[[nodiscard]] inline std::size_t walk_row(const SparseRows& rows, std::size_t n, const SplitArrays& splits,
                                          std::int32_t at) {
    while (at >= 0) {
        const auto split = static_cast<std::size_t>(at);
        const double score = rows.dot(n, splits.w + split * rows.n_features) + splits.bias[split];
        at = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
    }
    return static_cast<std::size_t>(~at);
}

template <class D>
concept Design = requires(const D& rows, std::size_t n, const float* w) {
    { rows.n_rows } -> std::convertible_to<std::size_t>;
    { rows.n_features } -> std::convertible_to<std::size_t>;
    { rows.dot(n, w) } -> std::same_as<double>;
};

template <class D>
inline constexpr bool is_sparse = std::same_as<D, SparseRows>;

}  // namespace spinney
