#pragma once
/// Targets of the rows that reach each node of a tree, summed up.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/gains.hpp"
#include "spinney/rows_by_leaf.hpp"

namespace spinney {

/// Sums over the rows of each node.
struct NodeSums {
    std::size_t n_outputs;
    std::vector<double> weight, spent, squares, targets;

    NodeSums(std::size_t n_nodes, std::size_t n_outputs_)
        : n_outputs(n_outputs_), weight(n_nodes), spent(n_nodes), squares(n_nodes), targets(n_nodes * n_outputs_) {}

    void add_row(std::size_t node, std::size_t n, const GainTask& task) {
        const double w = task.weights[n];
        weight[node] += w;
        spent[node] += w * w / task.counts[n];
        double* sum = targets.data() + node * n_outputs;
        if (!task.classes.empty()) {
            sum[task.classes[n]] += w;
            squares[node] += w;
            return;
        }
        for (std::size_t k = 0; k < n_outputs; ++k) {
            const double y = task.values[n * n_outputs + k];
            sum[k] += w * y;
            squares[node] += w * y * y;
        }
    }

    void add_node(std::size_t node, std::size_t child) {
        weight[node] += weight[child];
        spent[node] += spent[child];
        squares[node] += squares[child];
        for (std::size_t k = 0; k < n_outputs; ++k) targets[node * n_outputs + k] += targets[child * n_outputs + k];
    }

    [[nodiscard]] double mean(std::size_t node, std::size_t k) const { return targets[node * n_outputs + k] / weight[node]; }
    /// Loss of the rows if one constant answers them all.
    [[nodiscard]] double scatter(std::size_t node) const {
        double of_mean = 0.0;
        for (std::size_t k = 0; k < n_outputs; ++k) of_mean += targets[node * n_outputs + k] * mean(node, k);
        return std::max(squares[node] - of_mean, 0.0);
    }
    /// Rows of equal weight that the rows of a node are as good as.
    [[nodiscard]] double n_rows(std::size_t node) const { return weight[node] * weight[node] / spent[node]; }
};

/// Sums of all nodes, from the leaves up.
[[nodiscard]] NodeSums sum_nodes(const ForestTree& tree, const RowsByLeaf& sorted, std::span<const std::int32_t> leaf_nodes,
                                 const GainTask& task);

}  // namespace spinney
