#pragma once
/// Greedy growth of a tree from the root down, breadth first, with any rule for the splits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/grow/split_rule.hpp"
#include "spinney/leaf.hpp"
#include "spinney/table/training_table.hpp"

namespace spinney {

struct GrowOptions {
    Impurity impurity = Impurity::entropy;
    std::size_t max_depth = 0;          ///< 0 for none
    std::size_t min_samples_split = 2;  ///< nodes of fewer rows are leaves
    double min_leaf_weight = 0.0;       ///< least weight of the rows of a leaf
    std::size_t n_candidates = 1;       ///< see GrowSite
    std::uint64_t seed = 0;             ///< with the number of a node it makes all its random numbers
    std::size_t n_threads = 1;
};

/// A grown tree; nodes are numbered breadth first, leaves hold class fractions or means.
struct GrownTree {
    std::vector<std::int32_t> left, right;
    std::vector<double> bias;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> weights;
    std::vector<double> leaf_values;  ///< n_outputs numbers a leaf
};

/// Grows until all leaves are pure, or no split parts their rows, or a limit is met. Rows of weight 0 take no part.
/// A split that leaves one side empty, or too light, is replaced by the best column, so that only rows that are alike stay
/// together, or too light to part.
/// Rows of positive `judge_weights` walk down the growing tree to judge its splits, without any part in them; the weights
/// are one for each row, or none at all.
/// Rules that search columns search the codes of a table of these rows, if there is one and the rows are dense.
template <Design D>
[[nodiscard]] GrownTree grow_tree(const D& rows, const Scaling& scaling, const Targets& targets, const SplitRule<D>& rule,
                                  const GrowOptions& options, std::span<const double> judge_weights = {},
                                  const TrainingTable* table = nullptr);

}  // namespace spinney
