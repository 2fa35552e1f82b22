#include "node_sums.hpp"

#include "spinney/parallel.hpp"

namespace spinney {

NodeSums sum_nodes(const ForestTree& tree, const RowsByLeaf& sorted, std::span<const std::int32_t> leaf_nodes,
                   const GainTask& task) {
    NodeSums sums(tree.splits.left.size(), task.n_outputs);
    const auto rows = sorted.in_order();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check_stop_at(i);
        const std::size_t n = rows[i];
        sums.add_row(static_cast<std::size_t>(leaf_nodes[n]), n, task);
    }
    for (std::size_t node = tree.splits.left.size(); node-- > 0;) {  // children have larger numbers
        if (tree.splits.left[node] < 0) continue;
        sums.add_node(node, static_cast<std::size_t>(tree.splits.left[node]));
        sums.add_node(node, static_cast<std::size_t>(tree.splits.right[node]));
    }
    return sums;
}

}  // namespace spinney
