#include "spinney/gains.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Rows in the order of the leaves, from left to right: those of a node are a range.
struct SortedRows {
    std::vector<std::size_t> numbers;
    std::vector<std::size_t> begin;  ///< first row of each leaf by rank, and the end

    SortedRows(const Topology& shape, std::span<const std::int32_t> leaf_nodes, std::span<const double> weights)
        : begin(shape.n_leaves() + 1) {
        const auto rank = [&](std::size_t n) { return shape.first_leaf[static_cast<std::size_t>(leaf_nodes[n])]; };
        for (std::size_t n = 0; n < weights.size(); ++n)
            if (weights[n] > 0.0) ++begin[rank(n) + 1];
        for (std::size_t leaf = 0; leaf < shape.n_leaves(); ++leaf) begin[leaf + 1] += begin[leaf];
        numbers.resize(begin.back());
        std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t n = 0; n < weights.size(); ++n)
            if (weights[n] > 0.0) numbers[next[rank(n)]++] = n;
    }

    [[nodiscard]] std::span<const std::size_t> of(const Topology& shape, std::size_t node) const {
        const std::size_t first = begin[shape.first_leaf[node]];
        return std::span(numbers).subspan(first, begin[shape.end_leaf[node]] - first);
    }
};

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

NodeSums sum_nodes(const ForestTree& tree, const SortedRows& sorted, std::span<const std::int32_t> leaf_nodes,
                   const GainTask& task) {
    NodeSums sums(tree.splits.left.size(), task.n_outputs);
    for (std::size_t i = 0; i < sorted.numbers.size(); ++i) {
        check_stop_at(i);
        const std::size_t n = sorted.numbers[i];
        sums.add_row(static_cast<std::size_t>(leaf_nodes[n]), n, task);
    }
    for (std::size_t node = tree.splits.left.size(); node-- > 0;) {  // children have larger numbers
        if (tree.splits.left[node] < 0) continue;
        sums.add_node(node, static_cast<std::size_t>(tree.splits.left[node]));
        sums.add_node(node, static_cast<std::size_t>(tree.splits.right[node]));
    }
    return sums;
}

std::vector<std::size_t> number_leaves(const Topology& shape) {
    std::vector<std::size_t> numbers(shape.n_nodes());
    std::size_t n_leaves = 0;
    for (std::size_t node = 0; node < numbers.size(); ++node)
        if (shape.is_leaf(node)) numbers[node] = n_leaves++;
    return numbers;
}

/// A hyperplane with the rows it is judged on and the direction of the targets that it is to explain.
struct Judged {
    std::size_t node;
    std::span<const std::size_t> rows;
    std::span<const std::int32_t> columns;
    std::span<const float> weights;
    std::vector<double> direction;
};

/// Moments of the columns of a hyperplane over its rows.
struct ColumnMoments {
    std::vector<double> covariance, variance;  ///< with the targets, of each column
    double target_variance = 0.0;
};

/// Calls visit(entry, x) for the columns of a hyperplane that row n holds.
template <class T, class Visit>
void visit_entries(const DenseRowsOf<T>& rows, std::size_t n, const Judged& judged, std::span<const std::int32_t>,
                   Visit&& visit) {
    const auto x = rows.row(n);
    for (std::size_t e = 0; e < judged.columns.size(); ++e)
        visit(e, static_cast<double>(x[static_cast<std::size_t>(judged.columns[e])]));
}
template <class Visit>
void visit_entries(const SparseRows& rows, std::size_t n, const Judged&, std::span<const std::int32_t> entry_of_column,
                   Visit&& visit) {
    rows.for_each(n, [&](std::size_t j, float x) {
        if (entry_of_column[j] >= 0) visit(static_cast<std::size_t>(entry_of_column[j]), static_cast<double>(x));
    });
}

/// Targets along the direction, about their mean, row by row.
std::vector<double> targets_along(const Judged& judged, const NodeSums& sums, const GainTask& task) {
    double mean = 0.0;
    for (std::size_t k = 0; k < task.n_outputs; ++k) mean += judged.direction[k] * sums.mean(judged.node, k);
    std::vector<double> z(judged.rows.size(), -mean);
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        const std::size_t n = judged.rows[i];
        if (!task.classes.empty()) {
            z[i] += judged.direction[static_cast<std::size_t>(task.classes[n])];
            continue;
        }
        for (std::size_t k = 0; k < task.n_outputs; ++k) z[i] += judged.direction[k] * task.values[n * task.n_outputs + k];
    }
    return z;
}

/// Sums of values, their squares and their products with the targets, column by column.
struct ColumnSums {
    std::vector<double> values, squares, products;
    explicit ColumnSums(std::size_t size) : values(size), squares(size), products(size) {}

    /// A row of all columns: plain arrays, which the compiler adds several at a time.
    void add(const double* __restrict x, double w, double wz) {
        double* __restrict value = values.data();
        double* __restrict square = squares.data();
        double* __restrict product = products.data();
        const std::size_t size = values.size();
        for (std::size_t e = 0; e < size; ++e) {
            const double wx = w * x[e];
            value[e] += wx;
            square[e] += wx * x[e];
            product[e] += wz * x[e];
        }
    }
    void add(std::size_t e, double x, double w, double wz) {
        values[e] += w * x;
        squares[e] += w * x * x;
        products[e] += wz * x;
    }
};

/// Dense values are measured from those of one row, or squares would cancel far from 0.
template <class T>
void sum_columns(const DenseRowsOf<T>& rows, const Judged& judged, std::span<const double> z, const GainTask& task,
                 std::span<const std::int32_t>, ColumnSums& sums) {
    const std::size_t size = judged.columns.size();
    std::vector<double> origin(size), x(size);
    for (std::size_t e = 0; e < size; ++e)
        origin[e] = static_cast<double>(rows.row(judged.rows[0])[static_cast<std::size_t>(judged.columns[e])]);
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        const T* values = rows.row(judged.rows[i]).data();
        for (std::size_t e = 0; e < size; ++e)
            x[e] = static_cast<double>(values[static_cast<std::size_t>(judged.columns[e])]) - origin[e];
        const double w = task.weights[judged.rows[i]];
        sums.add(x.data(), w, w * z[i]);
    }
}
void sum_columns(const SparseRows& rows, const Judged& judged, std::span<const double> z, const GainTask& task,
                 std::span<const std::int32_t> entry_of_column, ColumnSums& sums) {
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        const double w = task.weights[judged.rows[i]];
        visit_entries(rows, judged.rows[i], judged, entry_of_column,
                      [&](std::size_t e, double x) { sums.add(e, x, w, w * z[i]); });
    }
}

template <Design D>
ColumnMoments moments_of(const D& rows, const Judged& judged, const NodeSums& sums, const GainTask& task,
                         std::span<const std::int32_t> entry_of_column) {
    const std::size_t size = judged.columns.size();
    const double total = sums.weight[judged.node];
    const std::vector<double> z = targets_along(judged, sums, task);
    ColumnSums of_columns(size);
    sum_columns(rows, judged, z, task, entry_of_column, of_columns);
    ColumnMoments out{std::move(of_columns.products), std::move(of_columns.squares)};
    for (std::size_t e = 0; e < size; ++e) {
        const double mean = of_columns.values[e] / total;
        out.covariance[e] /= total;
        out.variance[e] = std::max(out.variance[e] / total - mean * mean, 0.0);
    }
    for (std::size_t i = 0; i < z.size(); ++i) out.target_variance += task.weights[judged.rows[i]] / total * z[i] * z[i];
    return out;
}

/// Variance of the score of a hyperplane over its rows.
template <Design D>
double score_variance(const D& rows, const Judged& judged, const GainTask& task, double total,
                      std::span<const std::int32_t> entry_of_column) {
    double origin = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < judged.rows.size(); ++i) {
        check_stop_at(i);
        double score = -origin;
        visit_entries(rows, judged.rows[i], judged, entry_of_column,
                      [&](std::size_t e, double x) { score += static_cast<double>(judged.weights[e]) * x; });
        if (i == 0) std::swap(origin, score);
        const double w = task.weights[judged.rows[i]];
        sum += w * score;
        squares += w * score * score;
    }
    const double mean = sum / total;
    return std::max(squares / total - mean * mean, 0.0);
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
          sorted_(shape_, leaf_nodes, task.weights), sums_(sum_nodes(tree, sorted_, leaf_nodes, task)),
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
        const std::size_t size = static_cast<std::size_t>(tree_.splits.indptr[node + 1]) - first;
        if (!(sums_.weight[left] > 0.0 && sums_.weight[right] > 0.0) || size == 0) return;
        Judged judged{node, sorted_.of(shape_, node), tree_.splits.indices.subspan(first, size),
                      tree_.splits.weights.subspan(first, size), std::vector<double>(task_.n_outputs)};
        double squared = 0.0;
        for (std::size_t k = 0; k < task_.n_outputs; ++k) {
            judged.direction[k] = sums_.mean(right, k) - sums_.mean(left, k);
            squared += judged.direction[k] * judged.direction[k];
        }
        const double gain = sums_.weight[left] / sums_.weight[node] * sums_.weight[right] * squared;
        if (!(gain > 0.0)) return;
        if (size == 1) return judge_single_column(node, gain, first);
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
            const std::size_t size = static_cast<std::size_t>(tree_.leaves.indptr[row + 1]) - first;
            if (size == 0) continue;
            Judged judged{node, sorted_.of(shape_, node), tree_.leaves.indices.subspan(first, size),
                          tree_.leaves.weights.subspan(first, size), std::vector<double>(task_.n_outputs)};
            judged.direction[k] = 1.0;
            share(judged, entry_of_column, tree_.splits.indices.size() + first, [&](const ColumnMoments& moments) {
                double c = 0.0;
                for (std::size_t e = 0; e < size; ++e) c += static_cast<double>(judged.weights[e]) * moments.covariance[e];
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
    SortedRows sorted_;
    NodeSums sums_;
    std::vector<std::size_t> leaf_number_;  ///< of each leaf in the order of the nodes
    double chance_;  ///< the largest of so many squared normal numbers is about this (Donoho and Johnstone, 1994)
    EntryGains gains_;
};

void check_task(const ForestTree& tree, std::span<const std::int32_t> leaf_nodes, const GainTask& task, std::size_t n_rows) {
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
