#include "spinney/tree.hpp"

#include <stdexcept>
#include <string>

namespace spinney {
namespace {

/// Children come in pairs, point forward, and every node but the root has exactly one parent.
void check_children(std::span<const std::int32_t> left, std::span<const std::int32_t> right) {
    const auto fail = [](std::size_t node, const std::string& what) {
        throw std::invalid_argument("tree node " + std::to_string(node) + ": " + what);
    };
    if (left.empty() || left.size() != right.size())
        throw std::invalid_argument("a tree needs equally many left and right children, at least one node");
    std::vector<char> has_parent(left.size(), 0);
    for (std::size_t node = 0; node < left.size(); ++node) {
        if ((left[node] < 0) != (right[node] < 0)) fail(node, "has one child; give none or two");
        if (left[node] < 0) continue;
        for (std::int32_t child : {left[node], right[node]}) {
            if (child <= static_cast<std::int64_t>(node) || static_cast<std::size_t>(child) >= left.size())
                fail(node, "child " + std::to_string(child) + " is out of range; children follow their parent");
            if (has_parent[static_cast<std::size_t>(child)]++ != 0) fail(node, "shares a child with another node");
        }
    }
    for (std::size_t node = 1; node < left.size(); ++node)
        if (has_parent[node] == 0) fail(node, "has no parent");
}

}  // namespace

void check_tree(const TreeView& tree) {
    check_children(tree.left, tree.right);
    const std::size_t n = tree.left.size();
    if (tree.bias.size() != n || tree.indptr.size() != n + 1 || tree.indices.size() != tree.weights.size())
        throw std::invalid_argument("tree arrays disagree in length");
    if (tree.indptr[0] != 0 || tree.indptr[n] != static_cast<std::int64_t>(tree.indices.size()))
        throw std::invalid_argument("tree indptr does not span the weights");
    for (std::size_t i = 0; i < n; ++i)
        if (tree.indptr[i] > tree.indptr[i + 1]) throw std::invalid_argument("tree indptr decreases");
    for (std::int32_t j : tree.indices)
        if (j < 0 || static_cast<std::size_t>(j) >= tree.n_features)
            throw std::invalid_argument("tree feature " + std::to_string(j) + " is out of range");
}

Topology::Topology(std::span<const std::int32_t> left_, std::span<const std::int32_t> right_)
    : left(left_.begin(), left_.end()), right(right_.begin(), right_.end()), depth(left.size()), first_leaf(left.size()),
      end_leaf(left.size()), split_of_node(left.size(), -1) {
    check_children(left, right);
    for (std::size_t node = 0; node < n_nodes(); ++node) {
        if (is_leaf(node)) continue;
        for (std::int32_t child : {left[node], right[node]}) depth[static_cast<std::size_t>(child)] = depth[node] + 1;
        if (levels.size() <= depth[node]) levels.resize(depth[node] + 1);
        levels[depth[node]].push_back(static_cast<std::int32_t>(node));
        split_of_node[node] = static_cast<std::int32_t>(n_splits++);
    }
    // Leaf counts from the bottom, then ranks from the top: no recursion, whatever the depth.
    std::vector<std::size_t> count(n_nodes(), 1);
    for (std::size_t node = n_nodes(); node-- > 0;)
        if (!is_leaf(node))
            count[node] = count[static_cast<std::size_t>(left[node])] + count[static_cast<std::size_t>(right[node])];
    leaf_node.resize(count[0]);
    for (std::size_t node = 0; node < n_nodes(); ++node) {
        end_leaf[node] = first_leaf[node] + count[node];
        if (is_leaf(node)) {
            leaf_node[first_leaf[node]] = node;
            continue;
        }
        const auto l = static_cast<std::size_t>(left[node]);
        first_leaf[l] = first_leaf[node];
        first_leaf[static_cast<std::size_t>(right[node])] = first_leaf[node] + count[l];
    }
    for (std::size_t node = 0; node < n_nodes(); ++node) {
        if (is_leaf(node)) continue;
        child.push_back(code(static_cast<std::size_t>(left[node])));
        child.push_back(code(static_cast<std::size_t>(right[node])));
    }
}

}  // namespace spinney
