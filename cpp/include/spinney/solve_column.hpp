#pragma once
/// One split by one column of a table from one reduced problem: exact by enumeration of all thresholds, or of all sets of levels
/// (fao section 3), with the side of missing values. Bins bound the cost from below, and only bins whose bound is low enough are
/// looked at value by value.

#include <cstdint>
#include <span>

#include "spinney/grow/hyperplane.hpp"
#include "spinney/solve_axis.hpp"
#include "spinney/table/training_table.hpp"

namespace spinney {

struct ColumnSplit {
    /// Over raw coordinates: the number, with a weight on its flag where missing values go to the other side than what stands for
    /// them; or indicators of levels. Without weights the side of all rows.
    Hyperplane plane;
    double cost = 0.0;  ///< weighted 0/1 loss, plus alpha if a column is used
};

/// The split of least cost; the constant split wins ties, then the first column and its lowest threshold. `wanted` has a flag for
/// each column. Rows come block after block.
template <DenseDesign D>
[[nodiscard]] ColumnSplit solve_column(const D& rows, const CodedColumns& coded, const ReducedProblem& problem, double alpha,
                                       std::span<const std::uint8_t> wanted, std::size_t n_threads);

}  // namespace spinney
