#pragma once
/// Rows through a finished tree: which leaf, and what a linear leaf says.

#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/design.hpp"
#include "spinney/tree.hpp"

namespace spinney {

/// Node number of the leaf each row ends in. The tree must have passed check_tree.
template <Design D>
void apply_tree(const D& rows, const TreeView& tree, std::size_t n_threads, std::span<std::int32_t> leaf_nodes);

/// Linear leaves: hyperplane (leaf, output) is row leaf * n_outputs + output of a CSR matrix.
struct LinearLeafView {
    std::span<const double> intercepts;
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const float> weights;
    std::size_t n_outputs = 0;
};

/// Throws std::invalid_argument unless the hyperplanes can be read safely from rows of `n_features` columns.
void check_leaves(const LinearLeafView& view, std::size_t n_features);

/// Scores of each row in the leaf (number among the leaves) it ends in, n_outputs a row.
template <Design D>
void linear_outputs(const D& rows, std::span<const std::int32_t> leaves, const LinearLeafView& view, std::size_t n_threads,
                    std::span<double> out);

}  // namespace spinney
