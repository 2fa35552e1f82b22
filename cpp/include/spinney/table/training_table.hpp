#pragma once
/// The rows of a fit as all its trees read them: values, codes, scaling and lengths, each made once.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/scaling.hpp"
#include "spinney/table/codes.hpp"
#include "spinney/table/columns.hpp"
#include "spinney/table/edges.hpp"

namespace spinney {

/// Codes of the columns of a table, and what an exact search wants to know besides.
struct CodedColumns {
    std::vector<TableColumn> columns;
    Codes codes;
    /// Bins of column j in a histogram: begin[j] .. begin[j + 1], the last of them for missing values.
    std::vector<std::size_t> begin;
    /// Where all values of a column have a bin of their own: these values, one a bin. Else empty.
    std::vector<std::vector<float>> bin_values;
    /// Whether all values in a bin of a column of numbers are one and the same: a flag a bin of a histogram.
    std::vector<std::uint8_t> single;
    /// Lowest and highest number that stands for a missing one in its coordinate; 0 if none does.
    std::vector<float> missing_low, missing_high;
    /// Column that each coordinate belongs to; the flag of missing values belongs to the last of them.
    std::vector<std::uint32_t> column_of;

    [[nodiscard]] std::size_t n_columns() const { return columns.size(); }
    [[nodiscard]] bool is_exact(std::size_t column) const { return !bin_values[column].empty(); }
    [[nodiscard]] bool is_single(std::size_t column, std::size_t bin) const { return single[begin[column] + bin] != 0; }
};

/// Values (padded floats, bytes or CSR, borrowed), and what is made of them when it is first asked for, by whoever asks first.
/// Many trees read a table at once.
class TrainingTable {
  public:
    /// Every coordinate a column.
    explicit TrainingTable(const AnyRows& rows);
    /// The weights are borrowed, one for each row, or none for equal ones. They decide how bins are cut, and so on the time that
    /// an exact search takes.
    TrainingTable(const AnyRows& rows, std::vector<TableColumn> columns, std::span<const double> weights);

    [[nodiscard]] const AnyRows& rows() const { return rows_; }
    /// Throws for sparse rows, whose entries are searched one by one.
    [[nodiscard]] const CodedColumns& codes(std::size_t n_threads) const;
    /// Squared length of each standardised row.
    [[nodiscard]] std::shared_ptr<const std::vector<float>> squared_norms(const Scaling& scaling, std::size_t n_threads) const;

  private:
    AnyRows rows_;
    std::vector<TableColumn> columns_;
    std::span<const double> weights_;
    mutable std::mutex mutex_;  ///< of what follows
    mutable std::unique_ptr<const CodedColumns> codes_;
    mutable std::vector<double> scales_;  ///< centres and scales that the lengths were taken under
    mutable std::shared_ptr<const std::vector<float>> norms_;
};

}  // namespace spinney
