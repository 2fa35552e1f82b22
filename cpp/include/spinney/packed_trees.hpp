#pragma once
/// Many finished trees, checked and copied into few large tables.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/packed_tables.hpp"
#include "spinney/route.hpp"
#include "spinney/simd.hpp"
#include "spinney/tree.hpp"

namespace spinney {

/// A tree with its leaf table: row r of `leaves` belongs to the r-th leaf in node order. The intercepts of
/// constant leaves are their values; their hyperplanes are empty.
struct ForestTree {
    TreeView splits;
    LinearLeafView leaves;
    bool is_linear = false;
};

/// How the hyperplanes of a tree are kept: one weight each, non-zeros, or padded rows.
enum class PackedForm : std::uint8_t { axis, sparse, padded };

struct PackedTree {
    PackedForm form = PackedForm::axis;
    PackedForm leaf_form = PackedForm::sparse;
    bool is_linear = false;
    std::int32_t root = 0;         ///< coded like a child
    std::size_t first_leaf = 0;    ///< number of its first leaf among the leaves of the forest
    std::size_t first_linear = 0;  ///< number of its first leaf hyperplane in the table of its form
};

/// The trees of a forest. Splits are numbered through all trees of one form, leaves through all trees.
class PackedTrees {
  public:
    /// Throws std::invalid_argument unless there is at least one tree, every tree can be walked safely, has one row of
    /// `n_outputs` values a leaf, and reads `n_features` columns.
    PackedTrees(std::span<const ForestTree> trees, std::size_t n_features, std::size_t n_outputs);

    /// Whether any tree reads padded rows.
    [[nodiscard]] bool is_padded() const { return padded_w.n_rows() + padded_leaf_w.n_rows() > 0; }
    /// Outputs of a constant leaf, intercepts of a linear one.
    [[nodiscard]] std::span<const double> values_of(std::size_t leaf) const {
        return {leaf_values.data() + leaf * n_outputs, n_outputs};
    }

    std::size_t n_features, n_outputs;
    std::vector<PackedTree> trees;

    std::vector<PackedAxis> axis_splits;
    std::vector<PackedSplit> sparse_splits, padded_splits;
    SparseTable sparse_w, sparse_leaf_w;
    ColumnMasks sparse_masks;  ///< of sparse_w
    PaddedTable padded_w, padded_leaf_w;

    std::vector<std::int32_t> leaf_nodes, leaf_labels;  ///< node number and first largest output of each leaf
    std::vector<double> leaf_values;

  private:
    void check(std::span<const ForestTree> given) const;
    void reserve(std::span<const ForestTree> given);
    void pack(const ForestTree& tree);
    void pack_splits(const TreeView& tree, std::span<const std::int32_t> codes, PackedForm form);
    void pack_leaves(const ForestTree& tree);
    void pack_leaf_hyperplanes(const ForestTree& tree);
    [[nodiscard]] std::size_t n_splits(PackedForm form) const;
};

/// The first of the largest values: the label of a row.
[[nodiscard]] std::int32_t first_largest(std::span<const double> values);

}  // namespace spinney
