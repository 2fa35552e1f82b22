#pragma once
/// Values as bytes: the number of the bin that each lies in.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/table/columns.hpp"
#include "spinney/table/edges.hpp"

namespace spinney {

/// Columns of a group at most: their histograms fit the first-level cache together.
inline constexpr std::size_t group_columns = 8;

/// Neighbouring columns whose codes lie together, row by row.
struct ColumnGroup {
    std::size_t first, width;
    const std::uint8_t* codes;  ///< row n: codes[n * width] .. codes[n * width + width - 1]
};

/// Codes of all rows, a group of columns after the other. A histogram of few rows then waits for one line of memory a row and
/// group instead of one a value; one of all rows takes as long as with whole columns.
class Codes {
  public:
    /// Not filled yet.
    Codes(std::size_t n_rows, std::vector<std::size_t> n_bins);

    [[nodiscard]] std::size_t n_rows() const { return n_rows_; }
    [[nodiscard]] std::size_t n_columns() const { return n_bins_.size(); }
    [[nodiscard]] std::span<const ColumnGroup> groups() const { return groups_; }
    /// Bins of each column that are not for missing values.
    [[nodiscard]] std::span<const std::size_t> n_bins() const { return n_bins_; }
    /// Code of one value.
    [[nodiscard]] std::uint8_t at(std::size_t row, std::size_t column) const {
        const ColumnGroup& group = groups_[group_of_[column]];
        return group.codes[row * group.width + column - group.first];
    }
    /// The group of a column.
    [[nodiscard]] const ColumnGroup& group_of(std::size_t column) const { return groups_[group_of_[column]]; }
    /// Codes of the rows of a group, to be filled by its maker.
    [[nodiscard]] std::uint8_t* writable(const ColumnGroup& group) { return codes_.get() + group.first * n_rows_; }

  private:
    std::size_t n_rows_;
    std::vector<std::size_t> n_bins_;
    std::unique_ptr<std::uint8_t[]> codes_;
    std::vector<ColumnGroup> groups_;
    std::vector<std::uint32_t> group_of_;  ///< of each column
};

/// Codes of the columns of rows; absent entries of sparse rows are zeros, NaN is missing. Throws if a value is infinite, or no
/// level of a column of levels. Of sparse rows every coordinate is a column.
template <Design D>
[[nodiscard]] Codes code_rows(const D& rows, std::span<const TableColumn> columns, const Edges& edges, std::size_t n_threads);

/// The same where every coordinate is a column.
template <Design D>
[[nodiscard]] Codes code_rows(const D& rows, const Edges& edges, std::size_t n_threads) {
    return code_rows(rows, plain_columns(rows.n_features), edges, n_threads);
}

}  // namespace spinney
