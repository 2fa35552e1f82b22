#pragma once
/// Binary trees: the shape alone (Topology) and a finished tree as borrowed arrays (TreeView).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// A row of a CSR matrix, whose arrays have been checked.
template <class T>
[[nodiscard]] std::span<const T> csr_row(std::span<const T> entries, std::span<const std::int64_t> indptr, std::size_t row) {
    const auto begin = static_cast<std::size_t>(indptr[row]);
    return entries.subspan(begin, static_cast<std::size_t>(indptr[row + 1]) - begin);
}

/// A finished tree. Nodes are numbered breadth first: every child has a larger number than its parent.
/// A row goes right if w.x + bias >= 0, else left; a leaf has left = right = -1.
struct TreeView {
    std::span<const std::int32_t> left, right;
    std::span<const double> bias;
    std::span<const std::int64_t> indptr;  ///< hyperplane of node i: entries indptr[i] .. indptr[i+1]
    std::span<const std::int32_t> indices;
    std::span<const float> weights;
    std::size_t n_features = 0;
};

/// Throws std::invalid_argument unless the arrays form a tree that can be walked safely.
void check_tree(const TreeView& tree);

/// The shape of a tree, with splits and leaves numbered apart. Leaves are ranked from left to right, so
/// that the leaves below a node form the range [first_leaf, end_leaf).
class Topology {
  public:
    Topology(std::span<const std::int32_t> left, std::span<const std::int32_t> right);

    std::vector<std::int32_t> left, right;
    std::vector<std::size_t> depth, first_leaf, end_leaf;
    std::vector<std::int32_t> split_of_node;        ///< number among the splits, -1 at leaves
    std::vector<std::vector<std::int32_t>> levels;  ///< splits (as nodes) by depth
    std::vector<std::size_t> leaf_node;             ///< node of the leaf of a rank
    std::vector<std::int32_t> child;                ///< children of the splits as `walk` wants them; leaves by rank
    std::size_t n_splits = 0;

    [[nodiscard]] std::size_t n_nodes() const { return left.size(); }
    [[nodiscard]] std::size_t n_leaves() const { return leaf_node.size(); }
    [[nodiscard]] bool is_leaf(std::size_t node) const { return left[node] < 0; }
    /// Node as `walk` codes it: its split number, or the complement of its leaf rank.
    [[nodiscard]] std::int32_t code(std::size_t node) const {
        return is_leaf(node) ? ~static_cast<std::int32_t>(first_leaf[node]) : split_of_node[node];
    }
    /// First leaf of the right subtree: a leaf below `node` is on the right iff its rank is not smaller.
    [[nodiscard]] std::size_t middle(std::size_t node) const { return first_leaf[static_cast<std::size_t>(right[node])]; }
};

}  // namespace spinney
