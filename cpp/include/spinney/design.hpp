#pragma once
/// The rows of a data matrix, dense or sparse, behind one set of operations.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "spinney/simd.hpp"

namespace spinney {

/// Row-major matrix of floats or bytes, borrowed.
template <class T>
struct DenseRowsOf {
    using Value = T;
    const T* values = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;

    [[nodiscard]] std::span<const T> row(std::size_t n) const { return {values + n * n_features, n_features}; }
    [[nodiscard]] double dot(std::size_t n, const float* w) const { return spinney::dot(row(n), w); }
    /// Asks for a row that is needed soon. Wide rows are visited in no order the processor could guess.
    void prefetch(std::size_t n) const {
        constexpr std::size_t cache_line = 64 / sizeof(T);
        for (std::size_t j = 0; j < n_features; j += cache_line) __builtin_prefetch(values + n * n_features + j, 0, 2);
    }

    template <class Visit>
    void for_each(std::size_t n, Visit&& visit) const {
        const auto x = row(n);
        for (std::size_t j = 0; j < n_features; ++j) visit(j, static_cast<float>(x[j]));
    }
};
using DenseRows = DenseRowsOf<float>;
using ByteRows = DenseRowsOf<std::uint8_t>;

/// Compressed sparse rows with ascending column indices, borrowed.
struct SparseRows {
    const std::int64_t* indptr = nullptr;
    const std::int32_t* indices = nullptr;
    const float* values = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;

    [[nodiscard]] std::size_t begin(std::size_t n) const { return static_cast<std::size_t>(indptr[n]); }
    [[nodiscard]] std::size_t size(std::size_t n) const { return static_cast<std::size_t>(indptr[n + 1] - indptr[n]); }
    [[nodiscard]] std::span<const std::int32_t> columns(std::size_t n) const { return {indices + begin(n), size(n)}; }
    [[nodiscard]] std::span<const float> entries(std::size_t n) const { return {values + begin(n), size(n)}; }
    void prefetch(std::size_t) const {}
    [[nodiscard]] double dot(std::size_t n, const float* w) const { return spinney::dot(columns(n), values + begin(n), w); }

    template <class Visit>
    void for_each(std::size_t n, Visit&& visit) const {
        const auto columns_of_row = columns(n);
        const auto entries_of_row = entries(n);
        for (std::size_t k = 0; k < columns_of_row.size(); ++k)
            visit(static_cast<std::size_t>(columns_of_row[k]), entries_of_row[k]);
    }
};

/// Throws if a row could not be told by its number: those are kept in 32 bits.
inline void check_row_count(std::size_t n_rows) {
    constexpr std::size_t most = std::size_t{1} << 31U;
    if (n_rows >= most)
        throw std::invalid_argument(std::to_string(n_rows) + " rows are too many; give fewer than 2^31, try a sample");
}

/// Moves up to walk_rows rows (given by number) from `at` to the leaves they reach, as `walk` does.
template <class T, class Index>
void walk_batch(const DenseRowsOf<T>& rows, std::span<const Index> numbers, const SplitArrays& splits,
                std::span<std::int32_t> at) {
    std::array<const T*, walk_rows> x{};
    for (std::size_t r = 0; r < numbers.size(); ++r) x[r] = rows.row(numbers[r]).data();
    row_kernels<T>().walk(std::span<const T* const>(x.data(), numbers.size()), rows.n_features, splits, at);
}
template <class Index>
void walk_batch(const SparseRows& rows, std::span<const Index> numbers, const SplitArrays& splits, std::span<std::int32_t> at) {
    for (std::size_t r = 0; r < numbers.size(); ++r)
        while (at[r] >= 0) {
            const auto split = static_cast<std::size_t>(at[r]);
            const double score = rows.dot(numbers[r], splits.w + split * rows.n_features) + splits.bias[split];
            at[r] = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
        }
}

template <class D>
concept DenseDesign = requires(const D& rows, std::size_t n) {
    { rows.row(n) } -> std::same_as<std::span<const typename D::Value>>;
};
template <class D>
concept SparseDesign = requires(const D& rows, std::size_t n) {
    { rows.columns(n) } -> std::same_as<std::span<const std::int32_t>>;
    { rows.entries(n) } -> std::same_as<std::span<const float>>;
};
/// What the core asks of rows of any kind, and of those that are dense or sparse where it treats them apart.
template <class D>
concept Design = (DenseDesign<D> != SparseDesign<D>) &&
                 requires(const D& rows, std::size_t n, const float* w, void (*visit)(std::size_t, float),
                          std::span<const std::uint32_t> numbers, const SplitArrays& splits, std::span<std::int32_t> at) {
                     { rows.n_rows } -> std::convertible_to<std::size_t>;
                     { rows.n_features } -> std::convertible_to<std::size_t>;
                     { rows.dot(n, w) } -> std::same_as<double>;
                     rows.prefetch(n);
                     rows.for_each(n, visit);
                     walk_batch(rows, numbers, splits, at);
                 };

template <class D>
inline constexpr bool is_sparse = SparseDesign<D>;

/// The kinds of rows: all templates over a Design are compiled for each of them, and for no other.
using AnyRows = std::variant<DenseRows, ByteRows, SparseRows>;
/// The same list for explicit instantiations. The only macro of the core, since C++ has no loop for them.
#define SPINNEY_FOR_EACH_DESIGN(INSTANTIATE) INSTANTIATE(DenseRows) INSTANTIATE(ByteRows) INSTANTIATE(SparseRows)

}  // namespace spinney
