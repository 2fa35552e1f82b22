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

/// Row-major matrix of floats or bytes, borrowed. Kernels read `read_width` entries of a row, so that they meet whole vectors
/// alone: its columns, and behind them zeros if rows are padded, or else what the next row begins with. Weights there are zero,
/// and finite numbers times zero add nothing. The last rows, behind which the matrix ends, are then read from a padded copy.
template <class T>
struct DenseRowsOf {
    using Value = T;
    const T* values = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;
    std::size_t stride = n_features;  ///< entries from one row to the next
    std::size_t read_width = stride;
    const T* last_rows = nullptr;  ///< rows from n_in_place on, `read_width` entries each
    std::size_t n_in_place = n_rows;

    /// Weights of a hyperplane over these rows: zero behind the columns.
    [[nodiscard]] std::size_t width() const { return read_width; }
    [[nodiscard]] const T* begin(std::size_t n) const {
        return n < n_in_place ? values + n * stride : last_rows + (n - n_in_place) * read_width;
    }
    [[nodiscard]] std::span<const T> row(std::size_t n) const { return {begin(n), n_features}; }
    [[nodiscard]] double dot(std::size_t n, const float* w) const {
        return spinney::dot(std::span<const T>(begin(n), read_width), w);
    }
    /// Asks for a row that is needed soon. Wide rows are visited in no order the processor could guess.
    void prefetch(std::size_t n) const {
        constexpr std::size_t cache_line = 64 / sizeof(T);
        const T* x = begin(n);
        for (std::size_t j = 0; j < n_features; j += cache_line) __builtin_prefetch(x + j, 0, 2);
        __builtin_prefetch(x + n_features - 1, 0, 2);  // rows may begin anywhere in a line
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

    [[nodiscard]] std::size_t width() const { return n_features; }
    [[nodiscard]] std::size_t begin(std::size_t n) const { return static_cast<std::size_t>(indptr[n]); }
    [[nodiscard]] std::size_t size(std::size_t n) const { return static_cast<std::size_t>(indptr[n + 1] - indptr[n]); }
    [[nodiscard]] std::span<const std::int32_t> columns(std::size_t n) const { return {indices + begin(n), size(n)}; }
    [[nodiscard]] std::span<const float> entries(std::size_t n) const { return {values + begin(n), size(n)}; }
    /// Entries of `count` rows from row n on, together.
    [[nodiscard]] std::size_t count_entries(std::size_t n, std::size_t count) const { return begin(n + count) - begin(n); }
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
    constexpr std::size_t most = std::size_t{1} << 32U;
    if (n_rows >= most)
        throw std::invalid_argument(std::to_string(n_rows) + " rows are too many; give fewer than 2^32, try a sample");
}

/// Rows that are arrays of floats or bytes.
template <class D>
concept DenseDesign = requires(const D& rows, std::size_t n) {
    requires std::same_as<typename D::Value, float> || std::same_as<typename D::Value, std::uint8_t>;
    { rows.row(n) } -> std::same_as<std::span<const typename D::Value>>;
};
/// Rows of which only the entries that are not zero are kept.
template <class D>
concept SparseDesign = requires(const D& rows, std::size_t n, std::size_t count) {
    { rows.columns(n) } -> std::same_as<std::span<const std::int32_t>>;
    { rows.entries(n) } -> std::same_as<std::span<const float>>;
    { rows.count_entries(n, count) } -> std::same_as<std::size_t>;
};
/// All that the core asks of rows, whatever their kind; what it asks besides, where it treats dense and sparse ones apart, is
/// said by the two concepts above.
template <class D>
concept Design = (DenseDesign<D> != SparseDesign<D>) &&
                 requires(const D& rows, std::size_t n, const float* w, void (*visit)(std::size_t column, float value)) {
                     { rows.n_rows } -> std::convertible_to<std::size_t>;
                     { rows.n_features } -> std::convertible_to<std::size_t>;
                     { rows.width() } -> std::same_as<std::size_t>;
                     { rows.dot(n, w) } -> std::same_as<double>;
                     { rows.prefetch(n) } -> std::same_as<void>;
                     { rows.for_each(n, visit) } -> std::same_as<void>;
                 };

template <class D>
inline constexpr bool is_sparse = SparseDesign<D>;
/// Whether the rows lie in memory as the arrays of floats that every walk reads.
template <class D>
inline constexpr bool is_float = requires { requires std::same_as<typename D::Value, float>; };
template <class D>
inline constexpr bool is_bytes = requires { requires std::same_as<typename D::Value, std::uint8_t>; };

/// The kinds of rows: all templates over a Design are compiled for each of them, and for no other.
using AnyRows = std::variant<DenseRows, ByteRows, SparseRows>;
/// The same list for explicit instantiations; C++ has no loop for them.
#define SPINNEY_FOR_EACH_DESIGN(INSTANTIATE) INSTANTIATE(DenseRows) INSTANTIATE(ByteRows) INSTANTIATE(SparseRows)

#define SPINNEY_INSTANTIATE(D) static_assert(Design<D>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)
#undef SPINNEY_INSTANTIATE

/// A variant with Of<D> for each kind D of rows.
template <template <class> class Of, class Kinds = AnyRows>
struct ForEachDesign;
template <template <class> class Of, class... D>
struct ForEachDesign<Of, std::variant<D...>> {
    using Variant = std::variant<Of<D>...>;
};

/// Moves up to most_walk_rows rows (given by number) from `at` to the leaves they reach, as `walk` does.
template <Design D, class Index>
void walk_batch(const D& rows, std::span<const Index> numbers, const SplitArrays& splits, std::span<std::int32_t> at) {
    if constexpr (is_sparse<D>) {
        for (std::size_t r = 0; r < numbers.size(); ++r)
            while (at[r] >= 0) {
                const auto split = static_cast<std::size_t>(at[r]);
                const double score = rows.dot(numbers[r], splits.w + split * rows.width()) + splits.bias[split];
                at[r] = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
            }
    } else {
        using T = D::Value;
        std::array<const T*, most_walk_rows> x{};
        for (std::size_t r = 0; r < numbers.size(); ++r) x[r] = rows.begin(numbers[r]);
        row_kernels<T>().walk(std::span<const T* const>(x.data(), numbers.size()), rows.width(), splits, at);
    }
}

}  // namespace spinney
