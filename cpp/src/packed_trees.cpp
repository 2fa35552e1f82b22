#include "spinney/packed_trees.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace spinney {
namespace {

/// Padded rows add equal columns in one place, sparse rows one by one: they agree only if there are none.
void check_ascending(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices) {
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
        const auto columns = csr_row(indices, indptr, row);
        if (std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) != columns.end())
            throw std::invalid_argument("features of a hyperplane are unsorted or repeated; give ascending ones");
    }
}

std::size_t count_leaves(const TreeView& tree) {
    return static_cast<std::size_t>(std::ranges::count_if(tree.left, [](std::int32_t child) { return child < 0; }));
}

void check_forest_tree(const ForestTree& tree, std::size_t n_features, std::size_t n_outputs) {
    if (tree.splits.n_features != n_features || tree.leaves.n_outputs != n_outputs)
        throw std::invalid_argument("trees of a forest disagree in features or outputs");
    check_tree(tree.splits);
    check_leaves(tree.leaves, n_features);
    check_ascending(tree.splits.indptr, tree.splits.indices);
    check_ascending(tree.leaves.indptr, tree.leaves.indices);
    const std::size_t n_leaves = count_leaves(tree.splits);
    if (tree.leaves.intercepts.size() != n_leaves * n_outputs)
        throw std::invalid_argument("leaf table of " + std::to_string(tree.leaves.intercepts.size() / n_outputs) + " rows for " +
                                    std::to_string(n_leaves) + " leaves; give one row a leaf");
    if (!tree.is_linear && !tree.leaves.weights.empty()) throw std::invalid_argument("constant leaves have weights; give none");
}

/// Following indices pays only if nearly all weights are zero and rows are wide: one entry costs as much as
/// sixteen that lie in a row.
bool are_sparse(std::size_t n_weights, std::size_t n_hyperplanes, std::size_t n_features) {
    return n_features > 64 && n_weights < n_hyperplanes * n_features / 16;
}

PackedForm form_of(const TreeView& tree) {
    bool is_axis = true;
    for (std::size_t node = 0; node < tree.left.size(); ++node)
        is_axis = is_axis && tree.indptr[node + 1] - tree.indptr[node] <= 1;
    if (is_axis) return PackedForm::axis;
    return are_sparse(tree.weights.size(), tree.left.size() - count_leaves(tree), tree.n_features) ? PackedForm::sparse
                                                                                                   : PackedForm::padded;
}

PackedForm leaf_form_of(const ForestTree& tree) {
    const LinearLeafView& leaves = tree.leaves;
    return are_sparse(leaves.weights.size(), leaves.intercepts.size(), tree.splits.n_features) ? PackedForm::sparse
                                                                                               : PackedForm::padded;
}

}  // namespace

std::int32_t first_largest(std::span<const double> values) {
    return static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
}

PackedTrees::PackedTrees(std::span<const ForestTree> given, std::size_t n_features_, std::size_t n_outputs_)
    : n_features(n_features_), n_outputs(n_outputs_), padded_w(n_features), padded_leaf_w(n_features) {
    check(given);
    reserve(given);
    for (const ForestTree& tree : given) pack(tree);
    sparse_masks.build(sparse_w, n_features);
}

/// Columns and nodes are numbered in 32 bits.
void PackedTrees::check(std::span<const ForestTree> given) const {
    constexpr std::size_t largest = std::numeric_limits<std::int32_t>::max();
    if (given.empty() || n_features == 0 || n_outputs == 0)
        throw std::invalid_argument("a forest needs at least one tree, one feature and one output");
    if (n_features > largest)
        throw std::invalid_argument(std::to_string(n_features) + " features are too many; give at most " +
                                    std::to_string(largest));
    std::size_t n_nodes = 0;
    for (const ForestTree& tree : given) {
        check_forest_tree(tree, n_features, n_outputs);
        n_nodes += tree.splits.left.size();
    }
    if (n_nodes > largest)
        throw std::invalid_argument("a forest of " + std::to_string(n_nodes) + " nodes is too large; give fewer trees");
}

/// Space for the large tables in one piece: grown step by step they would take twice as much.
void PackedTrees::reserve(std::span<const ForestTree> given) {
    std::size_t n_padded = 0;
    std::size_t n_padded_leaf = 0;
    std::size_t n_values = 0;
    for (const ForestTree& tree : given) {
        const std::size_t n_leaf_rows = tree.leaves.intercepts.size();
        if (form_of(tree.splits) == PackedForm::padded) n_padded += tree.splits.left.size() - count_leaves(tree.splits);
        if (tree.is_linear && leaf_form_of(tree) == PackedForm::padded) n_padded_leaf += n_leaf_rows;
        n_values += n_leaf_rows;
    }
    padded_w.reserve(n_padded);
    padded_leaf_w.reserve(n_padded_leaf);
    leaf_values.reserve(n_values);
}

std::size_t PackedTrees::n_splits(PackedForm form) const {
    if (form == PackedForm::axis) return axis_splits.size();
    return form == PackedForm::sparse ? sparse_splits.size() : padded_splits.size();
}

void PackedTrees::pack(const ForestTree& tree) {
    const PackedForm form = form_of(tree.splits);
    std::vector<std::int32_t> codes(tree.splits.left.size());
    auto split = static_cast<std::int32_t>(n_splits(form));
    auto leaf = static_cast<std::int32_t>(leaf_nodes.size());
    for (std::size_t node = 0; node < codes.size(); ++node) codes[node] = tree.splits.left[node] < 0 ? ~leaf++ : split++;
    PackedTree& packed = trees.emplace_back();
    packed.form = form;
    packed.is_linear = tree.is_linear;
    packed.root = codes[0];
    packed.first_leaf = leaf_nodes.size();
    pack_splits(tree.splits, codes, form);
    pack_leaves(tree);
}

void PackedTrees::pack_splits(const TreeView& tree, std::span<const std::int32_t> codes, PackedForm form) {
    for (std::size_t node = 0; node < codes.size(); ++node) {
        if (tree.left[node] < 0) continue;
        const auto indices = csr_row(tree.indices, tree.indptr, node);
        const auto weights = csr_row(tree.weights, tree.indptr, node);
        const std::int32_t left = codes[static_cast<std::size_t>(tree.left[node])];
        const std::int32_t right = codes[static_cast<std::size_t>(tree.right[node])];
        if (form == PackedForm::axis) {
            const bool is_empty = indices.empty();
            axis_splits.push_back({tree.bias[node], {left, right}, is_empty ? 0 : indices[0], is_empty ? 0.0F : weights[0]});
        } else if (form == PackedForm::sparse) {
            sparse_splits.push_back({tree.bias[node], {left, right}});
            sparse_w.append(indices, weights);
        } else {
            padded_splits.push_back({tree.bias[node], {left, right}});
            padded_w.append(indices, weights);
        }
    }
}

void PackedTrees::pack_leaves(const ForestTree& tree) {
    for (std::size_t node = 0; node < tree.splits.left.size(); ++node)
        if (tree.splits.left[node] < 0) leaf_nodes.push_back(static_cast<std::int32_t>(node));
    const auto& values = tree.leaves.intercepts;
    leaf_values.insert(leaf_values.end(), values.begin(), values.end());
    while (leaf_labels.size() < leaf_nodes.size()) leaf_labels.push_back(first_largest(values_of(leaf_labels.size())));
    if (tree.is_linear) pack_leaf_hyperplanes(tree);
}

void PackedTrees::pack_leaf_hyperplanes(const ForestTree& tree) {
    const LinearLeafView& leaves = tree.leaves;
    PackedTree& packed = trees.back();
    packed.leaf_form = leaf_form_of(tree);
    const bool is_padded = packed.leaf_form == PackedForm::padded;
    packed.first_linear = is_padded ? padded_leaf_w.n_rows() : sparse_leaf_w.n_rows();
    for (std::size_t row = 0; row < leaves.intercepts.size(); ++row) {
        const auto indices = csr_row(leaves.indices, leaves.indptr, row);
        const auto weights = csr_row(leaves.weights, leaves.indptr, row);
        if (is_padded)
            padded_leaf_w.append(indices, weights);
        else
            sparse_leaf_w.append(indices, weights);
    }
}

}  // namespace spinney
