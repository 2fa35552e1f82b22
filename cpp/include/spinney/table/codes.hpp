#pragma once
/// Values as bytes: the number of the bin that each lies in.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spinney/design.hpp"
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
    /// Codes of the rows of a group, to be filled by its maker.
    [[nodiscard]] std::uint8_t* writable(const ColumnGroup& group) { return codes_.get() + group.first * n_rows_; }

  private:
    std::size_t n_rows_;
    std::vector<std::size_t> n_bins_;
    std::unique_ptr<std::uint8_t[]> codes_;
    std::vector<ColumnGroup> groups_;
};

/// Codes of rows; absent entries of sparse rows are zeros, NaN is missing. Throws if a value is infinite, or no level of a column
/// of levels.
template <Design D>
[[nodiscard]] Codes code_rows(const D& rows, const Edges& edges, std::size_t n_threads);

}  // namespace spinney
