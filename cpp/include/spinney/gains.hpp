#pragma once
/// How much each column lowers the squared loss of rows, by the splits and linear leaves of a finished tree.
///
/// The gain of a split is the loss of its rows answered by one constant minus their loss with a constant a side. It is
/// shared among the columns of the hyperplane by what they explain of it, less what is to be expected of chance.
/// `docs/decisions/0018-importances.md` has the formulas.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/packed_trees.hpp"

namespace spinney {

/// What a tree answers. Rows of weight 0 are as good as not there.
struct GainTask {
    std::span<const std::int32_t> classes;  ///< code of each row; empty if the targets are numbers
    std::span<const double> values;         ///< n_outputs a row, about their mean; empty if the targets are classes
    std::size_t n_outputs = 0;
    std::span<const double> weights;  ///< in the loss
    std::span<const double> counts;   ///< rows that a row stands for; it is no evidence of more
    std::size_t n_columns = 0;        ///< columns that vary, among which a split could choose
};

struct ColumnGains {
    std::vector<double> beyond_chance;  ///< a column
    std::vector<double> all;            ///< the same without looking at chance
};

/// Gains of all columns. `leaf_nodes` holds the node number of the leaf of each row, as `apply_tree` gives it.
/// The same bits for any number of threads.
template <Design D>
[[nodiscard]] ColumnGains column_gains(const D& rows, const ForestTree& tree, std::span<const std::int32_t> leaf_nodes,
                                       const GainTask& task, std::size_t n_threads);

}  // namespace spinney
