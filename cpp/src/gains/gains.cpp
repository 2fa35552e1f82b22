#include "spinney/gains.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "column_moments.hpp"
#include "node_sums.hpp"
#include "spinney/parallel.hpp"
#include "spinney/rows_by_leaf.hpp"

namespace spinney {
namespace {

RowsByLeaf sort_rows(const Topology& shape, std::span<const std::int32_t> leaf_nodes, std::span<const double> weights) {
    RowsByLeaf sorted(weights);
    sorted.sort(
        shape.n_leaves(), [&](std::uint32_t row) { return shape.first_leaf[static_cast<std::size_t>(leaf_nodes[row])]; }, 1);
    return sorted;
}

std::vector<std::size_t> number_leaves(const Topology& shape) {
    std::vector<std::size_t> numbers(shape.n_nodes());
    std::size_t n_leaves = 0;
    for (std::size_t node = 0; node < numbers.size(); ++node)
        if (shape.is_leaf(node)) numbers[node] = n_leaves++;
    return numbers;
}

/// What is left of a share of which chance alone would have the r² `chance / (n_rows - 1)`: the non-negative garrote.
double beyond_chance(double r_squared, double n_rows, double chance) {
    const double evidence = (n_rows - 1.0) * r_squared;
    return evidence > chance ? 1.0 - chance / evidence : 0.0;
}

/// Gains of the entries of hyperplanes, in the order of the entries: splits first, linear leaves after them.
struct EntryGains {
    std::vector<double> beyond_chance, all;
    explicit EntryGains(std::size_t size) : beyond_chance(size), all(size) {}
};

/// Shares a gain among the columns by w_j Cov(x_j, targets), what each explains; negative parts count nothing.
void share_gain(double gain, const Judged& judged, const ColumnMoments& moments, double n_rows, double chance, std::size_t first,
                EntryGains& out) {
    const std::size_t size = judged.columns.size();
    std::vector<double> parts(size);
    double total = 0.0;
    for (std::size_t e = 0; e < size; ++e)
        total += parts[e] = std::max(static_cast<double>(judged.weights[e]) * moments.covariance[e], 0.0);
    if (total > 0.0) {
        for (std::size_t e = 0; e < size; ++e) {
            if (parts[e] == 0.0) continue;
            const double variances = moments.variance[e] * moments.target_variance;
            const double c = moments.covariance[e];
            const double r_squared = variances > 0.0 ? std::min(c * c / variances, 1.0) : 0.0;
            out.all[first + e] = gain * parts[e] / total;
            out.beyond_chance[first + e] = out.all[first + e] * beyond_chance(r_squared, n_rows, chance);
        }
        return;
    }
    for (std::size_t e = 0; e < size; ++e) {
        const auto w = static_cast<double>(judged.weights[e]);
        total += parts[e] = w * w * moments.variance[e];
    }
    if (total > 0.0)
        for (std::size_t e = 0; e < size; ++e) out.all[first + e] = gain * parts[e] / total;
}

/// Looks at the hyperplanes of one tree.
template <Design D>
class Judge {
  public:
    Judge(const D& rows, const ForestTree& tree, std::span<const std::int32_t> leaf_nodes, const GainTask& task)
        : rows_(rows), tree_(tree), task_(task), shape_(tree.splits.left, tree.splits.right),
          sorted_(sort_rows(shape_, leaf_nodes, task.weights)), sums_(sum_nodes(tree, sorted_, leaf_nodes, task)),
          leaf_number_(number_leaves(shape_)),
          chance_(2.0 * std::log(static_cast<double>(std::max<std::size_t>(task.n_columns, 1)))),
          gains_(tree.splits.indices.size() + (tree.is_linear ? tree.leaves.indices.size() : 0)) {}

    [[nodiscard]] const EntryGains& judge(std::size_t n_threads) {
        const std::size_t n_nodes = shape_.n_nodes();
        const std::size_t n_tasks = std::max<std::size_t>(std::min(n_threads, n_nodes), 1);
        parallel_for(n_tasks, n_threads, [&](std::size_t first) {
            std::vector<std::int32_t> entry_of_column;
            if constexpr (is_sparse<D>) entry_of_column.assign(rows_.n_features, -1);
            for (std::size_t node = first; node < n_nodes; node += n_tasks) {
                if (!shape_.is_leaf(node))
                    judge_split(node, entry_of_column);
                else if (tree_.is_linear && sums_.weight[node] > 0.0)
                    judge_leaf(node, entry_of_column);
            }
        });
        return gains_;
    }

  private:
    void judge_split(std::size_t node, std::span<std::int32_t> entry_of_column) {
        const auto left = static_cast<std::size_t>(shape_.left[node]);
        const auto right = static_cast<std::size_t>(shape_.right[node]);
        const auto first = static_cast<std::size_t>(tree_.splits.indptr[node]);
        const auto columns = csr_row(tree_.splits.indices, tree_.splits.indptr, node);
        if (!(sums_.weight[left] > 0.0 && sums_.weight[right] > 0.0) || columns.empty()) return;
        std::vector<std::uint32_t> copy;
        Judged judged{node, sorted_.below(shape_, node).joined(copy), columns,
                      csr_row(tree_.splits.weights, tree_.splits.indptr, node), std::vector<double>(task_.n_outputs)};
        double squared = 0.0;
        for (std::size_t k = 0; k < task_.n_outputs; ++k) {
            judged.direction[k] = sums_.mean(right, k) - sums_.mean(left, k);
            squared += judged.direction[k] * judged.direction[k];
        }
        const double gain = sums_.weight[left] / sums_.weight[node] * sums_.weight[right] * squared;
        if (!(gain > 0.0)) return;
        if (columns.size() == 1) return judge_single_column(node, gain, first);
        const double length = std::sqrt(squared);
        for (double& u : judged.direction) u /= length;
        share(judged, entry_of_column, first, [&](const ColumnMoments&) { return gain; });
    }

    /// The gain itself is the evidence, but for a cut that was looked for: about ln(n) places are as good as independent.
    void judge_single_column(std::size_t node, double gain, std::size_t entry) {
        const double n_rows = sums_.n_rows(node);
        const double scatter = sums_.scatter(node);
        const double chance = chance_ + 2.0 * std::log(std::max(std::log(n_rows), 1.0));
        gains_.all[entry] = gain;
        gains_.beyond_chance[entry] = gain * beyond_chance(scatter > gain ? gain / scatter : 1.0, n_rows, chance);
    }

    /// A linear leaf has a hyperplane for each output. What it explains of it beyond a constant is its gain.
    void judge_leaf(std::size_t node, std::span<std::int32_t> entry_of_column) {
        const std::size_t leaf = leaf_number_[node];
        for (std::size_t k = 0; k < task_.n_outputs; ++k) {
            const std::size_t row = leaf * task_.n_outputs + k;
            const auto first = static_cast<std::size_t>(tree_.leaves.indptr[row]);
            const auto columns = csr_row(tree_.leaves.indices, tree_.leaves.indptr, row);
            if (columns.empty()) continue;
            std::vector<std::uint32_t> copy;
            Judged judged{node, sorted_.below(shape_, node).joined(copy), columns,
                          csr_row(tree_.leaves.weights, tree_.leaves.indptr, row), std::vector<double>(task_.n_outputs)};
            judged.direction[k] = 1.0;
            share(judged, entry_of_column, tree_.splits.indices.size() + first, [&](const ColumnMoments& moments) {
                double c = 0.0;
                for (std::size_t e = 0; e < columns.size(); ++e)
                    c += static_cast<double>(judged.weights[e]) * moments.covariance[e];
                const double v = score_variance(rows_, judged, task_, sums_.weight[node], entry_of_column);
                return c > 0.0 && v > 0.0 ? sums_.weight[node] * std::min(c * c / v, moments.target_variance) : 0.0;
            });
        }
    }

    template <class Gain>
    void share(const Judged& judged, std::span<std::int32_t> entry_of_column, std::size_t first, const Gain& gain_of) {
        mark(judged, entry_of_column, true);
        const ColumnMoments moments = moments_of(rows_, judged, sums_, task_, entry_of_column);
        const double gain = gain_of(moments);
        mark(judged, entry_of_column, false);
        if (gain > 0.0) share_gain(gain, judged, moments, sums_.n_rows(judged.node), chance_, first, gains_);
    }

    static void mark(const Judged& judged, std::span<std::int32_t> entry_of_column, bool is_there) {
        if constexpr (is_sparse<D>)
            for (std::size_t e = 0; e < judged.columns.size(); ++e)
                entry_of_column[static_cast<std::size_t>(judged.columns[e])] = is_there ? static_cast<std::int32_t>(e) : -1;
    }

    const D& rows_;
    const ForestTree& tree_;
    const GainTask& task_;
    Topology shape_;
    RowsByLeaf sorted_;
    NodeSums sums_;
    std::vector<std::size_t> leaf_number_;  ///< of each leaf in the order of the nodes
    double chance_;  ///< the largest of so many squared normal numbers is about this (Donoho and Johnstone, 1994)
    EntryGains gains_;
};

void check_task(const ForestTree& tree, std::span<const std::int32_t> leaf_nodes, const GainTask& task, std::size_t n_rows) {
    check_row_count(n_rows);
    const std::size_t n_targets = task.classes.empty() ? task.values.size() : task.classes.size() * task.n_outputs;
    if (leaf_nodes.size() != n_rows || task.weights.size() != n_rows || task.counts.size() != n_rows ||
        n_targets != n_rows * task.n_outputs)
        throw std::invalid_argument("leaves, targets, weights and counts must be one a row");
    for (std::int32_t node : leaf_nodes)
        if (node < 0 || static_cast<std::size_t>(node) >= tree.splits.left.size() ||
            tree.splits.left[static_cast<std::size_t>(node)] >= 0)
            throw std::invalid_argument("leaf number out of range");
    for (std::int32_t code : task.classes)
        if (code < 0 || static_cast<std::size_t>(code) >= task.n_outputs) throw std::invalid_argument("class out of range");
    if (tree.is_linear && tree.leaves.n_outputs != task.n_outputs)
        throw std::invalid_argument("linear leaves of other outputs than the targets");
}

}  // namespace

template <Design D>
ColumnGains column_gains(const D& rows, const ForestTree& tree, std::span<const std::int32_t> leaf_nodes, const GainTask& task,
                         std::size_t n_threads) {
    check_task(tree, leaf_nodes, task, rows.n_rows);
    Judge judge(rows, tree, leaf_nodes, task);
    const EntryGains& gains = judge.judge(n_threads);
    ColumnGains out{std::vector<double>(rows.n_features), std::vector<double>(rows.n_features)};
    const std::size_t n_split_entries = tree.splits.indices.size();
    for (std::size_t e = 0; e < gains.all.size(); ++e) {
        const auto column =
            static_cast<std::size_t>(e < n_split_entries ? tree.splits.indices[e] : tree.leaves.indices[e - n_split_entries]);
        out.beyond_chance[column] += gains.beyond_chance[e];
        out.all[column] += gains.all[e];
    }
    return out;
}

#define SPINNEY_INSTANTIATE(D)                                                                                        \
    template ColumnGains column_gains<D>(const D&, const ForestTree&, std::span<const std::int32_t>, const GainTask&, \
                                         std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
