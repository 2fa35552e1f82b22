/// Tree Alternating Optimization: [B] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees", [S] Gabidolla,
/// Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost", [F] Carreira-Perpiñán, Gabidolla and Zharmagambetov,
/// "Forest Alternating Optimization"; see docs/algorithms.

#include "spinney/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t rows_per_task = 1024;

/// A smaller difference of two losses, as a share of them, is rounding, and says nothing of where a row should go. So is any
/// difference of losses that are themselves the squares of rounding errors.
constexpr double least_share = 1e-12;
constexpr double least_loss = 1e-24;

/// Streams of random numbers that must not meet.
enum : std::uint64_t { start_stream = 1ULL << 62U, leaf_stream = 1ULL << 61U, column_stream = 1ULL << 60U };

std::vector<std::uint32_t> rows_with_weight(std::span<const double> weights) {
    std::vector<std::uint32_t> rows;
    for (std::size_t n = 0; n < weights.size(); ++n)
        if (weights[n] > 0.0) rows.push_back(static_cast<std::uint32_t>(n));
    return rows;
}

/// Whether all care points want the same child; no care points want any.
bool is_one_sided(const CarePoints& care) {
    return std::ranges::all_of(care.labels, [&](std::int8_t label) { return label == care.labels[0]; });
}

/// Some columns of some rows, copied together: dense rows stay dense, sparse rows sparse.
template <Design D>
struct GatheredRows {
    std::unique_ptr<float[]> values;  // not a vector: to fill it with zeros first takes long, and nothing could stop it

    GatheredRows(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns)
        : values(std::make_unique_for_overwrite<float[]>(numbers.size() * columns.size())),
          part{values.get(), numbers.size(), columns.size()} {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            check_stop_at(i);
            rows.prefetch(numbers[std::min(i + 1, numbers.size() - 1)]);
            const auto row = rows.row(numbers[i]);
            float* out = values.get() + i * columns.size();
            for (std::size_t k = 0; k < columns.size(); ++k) out[k] = static_cast<float>(row[columns[k]]);
        }
    }
    GatheredRows(const GatheredRows&) = delete;  // `part` borrows the values
    GatheredRows& operator=(const GatheredRows&) = delete;

    DenseRows part;
};

template <>
struct GatheredRows<SparseRows> {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> values;

    GatheredRows(const SparseRows& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns) {
        std::vector<std::int32_t> place(rows.n_features, -1);
        for (std::size_t k = 0; k < columns.size(); ++k) place[columns[k]] = static_cast<std::int32_t>(k);
        for (std::uint32_t number : numbers) {
            check_stop_at(indptr.size());
            rows.for_each(number, [&](std::size_t j, float x) {
                if (place[j] < 0) return;
                indices.push_back(place[j]);
                values.push_back(x);
            });
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
        part = {indptr.data(), indices.data(), values.data(), numbers.size(), columns.size()};
    }
    GatheredRows(const GatheredRows&) = delete;
    GatheredRows& operator=(const GatheredRows&) = delete;

    SparseRows part;
};

}  // namespace

template <Design D>
TreeOptimizer<D>::TreeOptimizer(const D& rows, const Scaling& scaling, std::span<const float> squared_norms,
                                const Targets& targets, const Topology& topology, std::unique_ptr<Leaves> leaves,
                                const OptimizerOptions& options)
    : rows_(rows), scaling_(scaling), norms_(squared_norms), targets_(targets), topology_(topology), leaves_(std::move(leaves)),
      options_(options), members_(rows_with_weight(targets.weights)), order_(members_.size()),
      leaf_start_(topology.n_leaves() + 1), other_leaf_(rows.n_rows), other_loss_(rows.n_rows) {
    state_.splits.weights.resize(topology_.n_splits * rows.n_features);
    state_.splits.bias.resize(topology_.n_splits);
    state_.leaf_of.resize(rows.n_rows);
    state_.loss_of.resize(rows.n_rows);
    state_.leaves = leaves_->table();
    sort_rows();
}

template <Design D>
void TreeOptimizer<D>::draw_splits(const Start& start) {
    for (const auto& level : topology_.levels) {
        parallel_for(level.size(), options_.n_threads,
                     [&](std::size_t i) { draw_split(static_cast<std::size_t>(level[i]), start); });
        sort_rows();
    }
    fit_leaves(0, false);
}

/// Draws one split and sends its rows, which all sit in the first leaf below it, to the side it says.
template <Design D>
void TreeOptimizer<D>::draw_split(std::size_t node, const Start& start) {
    Random random(options_.start_seed, start_stream, node);
    const auto [begin, end] = reach(node);
    const std::span<const std::uint32_t> rows(order_.data() + begin, end - begin);
    const auto columns = columns_of(node);
    float* w = hyperplane(node);
    draw_hyperplane<D>({rows_, scaling_, targets_, rows, columns}, start, random, {w, rows_.n_features}, bias(node));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check_stop_at(i);
        rows_.prefetch(rows[std::min(i + 1, rows.size() - 1)]);
        if (rows_.dot(rows[i], w) + bias(node) >= 0.0)
            state_.leaf_of[rows[i]] = static_cast<std::uint32_t>(topology_.middle(node));
    }
}

template <Design D>
void TreeOptimizer<D>::set_splits(SplitTable splits, LeafTable leaves) {
    state_.splits = std::move(splits);
    looked_at_ = nothing_looked_at;
    route_all();
    if (leaves.values.empty()) {
        fit_leaves(0, false);
    } else {
        leaves_->set_table(std::move(leaves));
        state_.leaves = leaves_->table();
        refresh_losses();
    }
}

template <Design D>
void TreeOptimizer<D>::resume(SplitTable splits, LeafTable leaves, std::span<const std::uint8_t> fitted) {
    set_splits(std::move(splits), std::move(leaves));
    leaves_->set_fitted(fitted);  // after the table, which counts as fitted by itself
}

template <Design D>
void TreeOptimizer<D>::set_leaves(LeafTable leaves) {
    leaves_->set_table(std::move(leaves));
    take_leaves();
}

template <Design D>
void TreeOptimizer<D>::route_all() {
    const std::size_t n_tasks = (members_.size() + rows_per_task - 1) / rows_per_task;
    parallel_for(n_tasks, options_.n_threads, [&](std::size_t task) {
        const std::size_t end = std::min(members_.size(), (task + 1) * rows_per_task);
        for (std::size_t i = task * rows_per_task; i < end; ++i) {
            std::int32_t at = topology_.code(0);
            walk_batch(rows_, std::span<const std::uint32_t>(&members_[i], 1), split_arrays(), {&at, 1});
            state_.leaf_of[members_[i]] = static_cast<std::uint32_t>(~at);
        }
    });
    sort_rows();
}

/// Counting sort by leaf; within a leaf rows stay in their order.
template <Design D>
void TreeOptimizer<D>::sort_rows() {
    std::ranges::fill(leaf_start_, 0U);
    for (std::uint32_t row : members_) ++leaf_start_[state_.leaf_of[row] + 1];
    std::partial_sum(leaf_start_.begin(), leaf_start_.end(), leaf_start_.begin());
    auto next = leaf_start_;
    for (std::uint32_t row : members_) order_[next[state_.leaf_of[row]]++] = row;
}

/// visit(node, batch) for the reduced sets of all `nodes`, in parallel over blocks of rows.
template <Design D>
template <class Visit>
void TreeOptimizer<D>::visit_reach(std::span<const std::int32_t> nodes, const Visit& visit) {
    struct Task {
        std::size_t node, begin, end;
    };
    std::vector<Task> tasks;
    for (std::int32_t node : nodes) {
        const auto [begin, end] = reach(static_cast<std::size_t>(node));
        for (std::size_t i = begin; i < end; i += rows_per_task)
            tasks.push_back({static_cast<std::size_t>(node), i, std::min(end, i + rows_per_task)});
    }
    parallel_for(tasks.size(), options_.n_threads, [&](std::size_t t) {
        const auto rows = std::span<const std::uint32_t>(order_).subspan(tasks[t].begin, tasks[t].end - tasks[t].begin);
        for (std::size_t first = 0; first < rows.size(); first += walk_rows) {
            const std::size_t next = std::min(first + walk_rows, rows.size());
            for (std::size_t i = next + walk_rows; i < std::min(next + 2 * walk_rows, rows.size()); ++i) rows_.prefetch(rows[i]);
            visit(tasks[t].node, rows.subspan(first, next - first));
        }
    });
}

/// The present leaf of a row is known; only the subtree of the other child has to be walked.
template <Design D>
void TreeOptimizer<D>::look_at_sibling(std::size_t node, std::span<const std::uint32_t> batch) {
    if (topology_.is_leaf(node)) return;
    const std::size_t middle = topology_.middle(node);
    const std::int32_t left = topology_.code(static_cast<std::size_t>(topology_.left[node]));
    const std::int32_t right = topology_.code(static_cast<std::size_t>(topology_.right[node]));
    std::array<std::int32_t, walk_rows> at{};
    for (std::size_t r = 0; r < batch.size(); ++r) at[r] = state_.leaf_of[batch[r]] >= middle ? left : right;
    walk_batch(rows_, batch, split_arrays(), {at.data(), batch.size()});
    for (std::size_t r = 0; r < batch.size(); ++r) {
        other_leaf_[batch[r]] = static_cast<std::uint32_t>(~at[r]);
        other_loss_[batch[r]] = leaves_->loss(batch[r], other_leaf_[batch[r]]);
    }
}

/// Sends the rows of a changed split to the side it now says.
template <Design D>
void TreeOptimizer<D>::reroute(std::size_t node, std::span<const std::uint32_t> batch) {
    for (std::uint32_t row : batch) {
        const bool is_right = rows_.dot(row, hyperplane(node)) + bias(node) >= 0.0;
        if (is_right == (state_.leaf_of[row] >= topology_.middle(node))) continue;
        state_.leaf_of[row] = other_leaf_[row];
        state_.loss_of[row] = other_loss_[row];
    }
}

/// look_at_sibling for the children of `node`, each with its part of the batch.
template <Design D>
void TreeOptimizer<D>::look_below(std::size_t node, std::span<const std::uint32_t> batch) {
    std::array<std::uint32_t, walk_rows> left{}, right{};
    std::size_t n_left = 0;
    std::size_t n_right = 0;
    for (std::uint32_t row : batch) {
        if (state_.leaf_of[row] >= topology_.middle(node))
            right[n_right++] = row;
        else
            left[n_left++] = row;
    }
    look_at_sibling(static_cast<std::size_t>(topology_.left[node]), {left.data(), n_left});
    look_at_sibling(static_cast<std::size_t>(topology_.right[node]), {right.data(), n_right});
}

/// Rows that are better off on one side of `node`, with that side as label and the gain as weight.
/// gain_of(row) is what the row would gain by changing sides.
template <Design D>
template <class Gain>
void TreeOptimizer<D>::collect(std::size_t node, CarePoints& care, const Gain& gain_of) const {
    const auto [begin, end] = reach(node);
    for (std::size_t i = begin; i < end; ++i) {
        check_stop_at(i);
        const std::uint32_t row = order_[i];
        const double gain = gain_of(row);
        if (gain == 0.0) continue;
        const bool is_right = state_.leaf_of[row] >= topology_.middle(node);
        // [S] eq. (4): the better child as pseudo-label, and what the worse one loses more as weight.
        care.rows.push_back(row);
        care.labels.push_back(is_right == (gain < 0.0) ? 1 : -1);
        care.weights.push_back(std::fabs(gain) * targets_.weights[row]);
    }
}

/// The reduced problem: rows whose loss depends on where `node` sends them ([B] section 3).
template <Design D>
void TreeOptimizer<D>::collect_care(std::size_t node, CarePoints& care) const {
    collect(node, care, [&](std::uint32_t row) {
        const double gain = state_.loss_of[row] - other_loss_[row];
        const double larger = std::max(state_.loss_of[row], other_loss_[row]);
        return std::fabs(gain) <= least_share * larger + least_loss ? 0.0 : gain;
    });
}

/// A child that no care point wants is idle, and its leaves may predict anything at no loss. They get the class
/// that the other child loses most by: now the node has care points again, and can win these rows for the child.
/// Without this, a node above two leaves of one label would never move, and most of a deep tree would die.
/// False if the node has no row, or loses nothing.
template <Design D>
bool TreeOptimizer<D>::relabel_idle_child(std::size_t node, const CarePoints& care) {
    const auto [begin, end] = reach(node);
    const auto rows = std::span<const std::uint32_t>(order_).subspan(begin, end - begin);
    const std::size_t middle = topology_.middle(node);
    const auto is_right = [&](std::uint32_t row) { return state_.leaf_of[row] >= middle; };
    double on_left = 0.0;
    double on_right = 0.0;
    for (std::uint32_t row : rows) (is_right(row) ? on_right : on_left) += targets_.weights[row];
    // Here and below the first of two equals is taken, whatever the rounding: a row of weight k must do as k copies.
    const bool is_left_idle = care.rows.empty() ? on_left <= (1.0 + 1e-9) * on_right : care.labels[0] > 0;

    std::vector<double> lost(targets_.n_outputs);
    for (std::uint32_t row : rows)
        lost[static_cast<std::size_t>(targets_.classes[row])] +=
            targets_.weights[row] * (is_right(row) == is_left_idle ? state_.loss_of[row] : other_loss_[row]);
    const double most = std::ranges::max(lost);
    if (!(most > 0.0)) return false;
    const auto is_most = [&](double loss) { return loss >= (1.0 - 1e-9) * most; };
    const auto label = static_cast<std::size_t>(std::ranges::find_if(lost, is_most) - lost.begin());

    const std::size_t first = is_left_idle ? topology_.first_leaf[node] : middle;
    const std::size_t last = is_left_idle ? middle : topology_.end_leaf[node];
    for (std::size_t leaf = first; leaf < last; ++leaf) leaves_->set_label(leaf, label);
    for (std::uint32_t row : rows)
        (is_right(row) == is_left_idle ? other_loss_ : state_.loss_of)[row] = leaves_->loss(row, first);
    return true;
}

template <Design D>
CarePoints TreeOptimizer<D>::care_points(std::size_t node) {
    const auto number = static_cast<std::int32_t>(node);
    visit_reach({&number, 1}, [&](std::size_t i, std::span<const std::uint32_t> batch) { look_at_sibling(i, batch); });
    looked_at_ = nothing_looked_at;  // the look at another level has been overwritten
    CarePoints care;
    collect_care(node, care);
    return care;
}

/// alpha |w|_1 for oblique splits; for axis-aligned ones alpha if a feature is used ([F] section 3).
template <Design D>
double TreeOptimizer<D>::penalty(std::span<const float> w) const {
    if (options_.split == SplitKind::oblique) return options_.solver.alpha * scaling_.l1_norm(w);
    return std::ranges::any_of(w, [](float x) { return x != 0.0F; }) ? options_.solver.alpha : 0.0;
}

/// Share of the objective that depends on the split: weighted 0/1 loss of the pseudo-labels + penalty.
template <Design D>
double TreeOptimizer<D>::node_cost(const CarePoints& care, std::span<const float> w, double bias) const {
    double cost = 0.0;
    for (std::size_t i = 0; i < care.rows.size(); ++i) {
        check_stop_at(i);
        rows_.prefetch(care.rows[std::min(i + 2 * walk_rows, care.rows.size() - 1)]);
        const bool is_right = rows_.dot(care.rows[i], w.data()) + bias >= 0.0;
        if (is_right != (care.labels[i] > 0)) cost += care.weights[i];
    }
    return cost + penalty(w);  // [S] eq. (4)
}

/// node_cost of the present split: its rows are where it sends them, so that no row has to be looked at.
template <Design D>
double TreeOptimizer<D>::present_cost(const CarePoints& care, std::size_t node, std::span<const float> w) const {
    double cost = 0.0;
    for (std::size_t i = 0; i < care.rows.size(); ++i) {
        const bool is_right = state_.leaf_of[care.rows[i]] >= topology_.middle(node);
        if (is_right != (care.labels[i] > 0)) cost += care.weights[i];
    }
    return cost + penalty(w);
}

/// A candidate split. If all care points agree, or there are none, the node becomes a constant.
template <Design D>
void TreeOptimizer<D>::propose(std::size_t node, std::uint64_t sweep, const CarePoints& care, std::span<float> w,
                               double& bias) const {
    if (is_one_sided(care)) {
        std::ranges::fill(w, 0.0F);
        bias = !care.labels.empty() && care.labels[0] > 0 ? 1.0 : -1.0;
        return;
    }
    if (draws_columns())
        solve_in_columns(columns_of(node), care, node, sweep, w, bias);
    else
        solve_care(rows_, scaling_, norms_, care.rows, care, node, sweep, w, bias);
}

/// The split of least surrogate loss; care point i is row `numbers[i]` of `rows`.
template <Design D>
template <Design Any>
void TreeOptimizer<D>::solve_care(const Any& rows, const Scaling& scaling, std::span<const float> norms,
                                  std::span<const std::uint32_t> numbers, const CarePoints& care, std::size_t node,
                                  std::uint64_t sweep, std::span<float> w, double& bias) const {
    if (options_.split == SplitKind::axis) {
        const AxisSplit split = solve_axis(rows, {numbers, care.labels, care.weights}, options_.solver.alpha);
        std::ranges::fill(w, 0.0F);
        if (split.feature >= 0) w[static_cast<std::size_t>(split.feature)] = split.sign;
        bias = split.bias;
        return;
    }
    // Loss differences have any unit; the surrogate sees weights whose sum is that of the sample weights,
    // so that alpha means the same at every node and under every loss.
    double sample_weight = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < care.rows.size(); ++i) {
        sample_weight += targets_.weights[care.rows[i]];
        total += care.weights[i];
    }
    std::vector<double> weights(care.weights);
    for (double& weight : weights) weight *= sample_weight / total;
    LinearOptions solver = options_.solver;
    // The ridge is a share of the squared length of a row, which shrinks with the columns.
    solver.ridge *= static_cast<double>(rows.n_features) / static_cast<double>(rows_.n_features);
    solver.n_threads = topology_.depth[node] == 0 ? options_.n_threads : 1;
    solve_linear(rows, scaling, norms, WeightedRows{numbers, weights}, LogisticLink(care.labels), solver,
                 Random(options_.seed, sweep, node), w, bias);
}

/// solve_care on a few columns, copied together: the solver then reads nothing else.
template <Design D>
void TreeOptimizer<D>::solve_in_columns(std::span<const std::uint32_t> columns, const CarePoints& care, std::size_t node,
                                        std::uint64_t sweep, std::span<float> w, double& bias) const {
    const GatheredRows<D> gathered(rows_, care.rows, columns);
    const auto& part = gathered.part;
    std::vector<std::uint32_t> numbers(care.rows.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::vector<double> mean, inverse_scale, deviation;
    std::vector<float> part_w;
    for (std::uint32_t j : columns) {
        mean.push_back(scaling_.mean[j]);
        inverse_scale.push_back(scaling_.inverse_scale[j]);
        deviation.push_back(scaling_.deviation[j]);
        part_w.push_back(w[j]);
    }
    const Scaling scaling(std::move(mean), std::move(inverse_scale), std::move(deviation));
    solve_care(part, scaling, squared_norms(part, scaling, 1), numbers, care, node, sweep, part_w, bias);
    std::ranges::fill(w, 0.0F);
    for (std::size_t k = 0; k < columns.size(); ++k) w[columns[k]] = part_w[k];
}

/// Columns that a split may use, ascending: the same in every sweep.
template <Design D>
std::vector<std::uint32_t> TreeOptimizer<D>::columns_of(std::size_t node) const {
    std::vector<std::uint32_t> columns(rows_.n_features);
    std::iota(columns.begin(), columns.end(), 0U);
    if (!draws_columns()) return columns;
    Random random(options_.seed, column_stream, node);
    for (std::size_t k = 0; k < options_.max_features; ++k)
        std::swap(columns[k], columns[k + random.below(static_cast<std::uint32_t>(columns.size() - k))]);
    columns.resize(options_.max_features);
    std::ranges::sort(columns);
    return columns;
}

/// Cost of a candidate, or of sending all rows one way if that is no worse; then the candidate becomes that
/// constant. The surrogate does not see it where a few heavy rows hide many light ones.
template <Design D>
double TreeOptimizer<D>::prefer_constant(const CarePoints& care, std::span<float> w, double& bias) const {
    double wants_left = 0.0;
    double wants_right = 0.0;
    for (std::size_t i = 0; i < care.rows.size(); ++i) (care.labels[i] < 0 ? wants_left : wants_right) += care.weights[i];
    const double cost = node_cost(care, w, bias);
    const double constant_cost = std::min(wants_left, wants_right);
    if (constant_cost > cost) return cost;
    std::ranges::fill(w, 0.0F);
    bias = wants_left <= wants_right ? 1.0 : -1.0;
    return constant_cost;
}

template <Design D>
bool TreeOptimizer<D>::solve_node(std::size_t node, std::uint64_t sweep, bool is_guarded) {
    CarePoints care;
    collect_care(node, care);
    if (!is_guarded && leaves_->has_labels() && is_one_sided(care) && relabel_idle_child(node, care)) {
        care = {};
        collect_care(node, care);
    }
    const std::span<float> present(hyperplane(node), rows_.n_features);
    std::vector<float> w(present.begin(), present.end());
    double new_bias = bias(node);
    if (care.rows.empty() && !is_guarded) {  // any split is as good; the present one is kept
        if (most_weights() == 0) return false;
        scaling_.keep_largest(most_weights(), w, new_bias);
    } else {
        propose(node, sweep, care, w, new_bias);
    }
    // [B] section 3, footnote 2: never updated for the worse.
    if (is_guarded && !(prefer_constant(care, w, new_bias) < present_cost(care, node, present))) return false;
    std::ranges::copy(w, present.begin());
    bias(node) = new_bias;
    return true;
}

template <Design D>
void TreeOptimizer<D>::solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) {
    const auto& level = topology_.levels[depth];
    const auto look = [&](std::size_t node, std::span<const std::uint32_t> batch) { look_at_sibling(node, batch); };
    if (looked_at_ != depth) visit_reach(level, look);
    looked_at_ = nothing_looked_at;

    // Largest first, so that threads end together. A node that no row reaches only costs its penalty: a
    // guarded sweep visits it too and makes it a constant.
    std::vector<std::int32_t> nodes;
    for (std::int32_t number : level) {
        const auto node = static_cast<std::size_t>(number);
        const auto [begin, end] = reach(node);
        if (is_guarded || begin < end) nodes.push_back(number);
        // Rows may come later, and a guard may then keep the split as it is.
        else if (most_weights() > 0)
            scaling_.keep_largest(most_weights(), {hyperplane(node), rows_.n_features}, bias(node));
    }
    std::ranges::stable_sort(nodes, std::greater{}, [&](std::int32_t node) {
        const auto [begin, end] = reach(static_cast<std::size_t>(node));
        return end - begin;
    });
    std::vector<char> is_changed(topology_.n_nodes(), 0);
    parallel_for(nodes.size(), options_.n_threads, [&](std::size_t i) {
        const auto node = static_cast<std::size_t>(nodes[i]);
        is_changed[node] = solve_node(node, sweep, is_guarded) ? 1 : 0;
    });

    // Rows are wide and far apart in memory: what the next level wants to know of a row is found out now,
    // while the row is at hand.
    const bool looks_below = is_next_below && depth + 1 < topology_.levels.size();
    visit_reach(level, [&](std::size_t node, std::span<const std::uint32_t> batch) {
        if (is_changed[node] != 0) reroute(node, batch);
        if (looks_below) look_below(node, batch);
    });
    if (looks_below) looked_at_ = depth + 1;
    sort_rows();
}

template <Design D>
void TreeOptimizer<D>::fit_leaves(std::uint64_t sweep, bool is_guarded) {
    const auto total_loss = [&](std::size_t leaf, std::span<const std::uint32_t> rows) {
        double sum = leaves_->penalty(leaf);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            check_stop_at(i);
            sum += targets_.weights[rows[i]] * leaves_->loss(rows[i], leaf);
        }
        return sum;
    };
    parallel_for(topology_.n_leaves(), options_.n_threads, [&](std::size_t leaf) {
        const auto rows = rows_in(leaf);
        if (rows.empty()) {
            leaves_->keep_limit(leaf);
            return;
        }
        const Random random(options_.seed, leaf_stream + sweep, topology_.leaf_node[leaf]);
        if (!is_guarded) {
            leaves_->fit(leaf, rows, random);
            return;
        }
        const LeafTable before = leaves_->row(leaf);
        const double old_loss = total_loss(leaf, rows);
        leaves_->fit(leaf, rows, random);
        if (!(total_loss(leaf, rows) <= old_loss)) leaves_->set_row(leaf, before);
    });
    take_leaves();
}

template <Design D>
void TreeOptimizer<D>::clear_empty_leaves() {
    for (std::size_t leaf = 0; leaf < topology_.n_leaves(); ++leaf)
        if (rows_in(leaf).empty()) leaves_->clear(leaf);
    state_.leaves = leaves_->table();
    looked_at_ = nothing_looked_at;
}

template <Design D>
void TreeOptimizer<D>::relax_leaves(const RelaxOptions& options) {
    parallel_for(topology_.n_leaves(), options_.n_threads,
                 [&](std::size_t leaf) { leaves_->relax(leaf, rows_in(leaf), options); });
    take_leaves();
}

/// The present leaf parameters become the tree's, and every row gets its loss under them.
template <Design D>
void TreeOptimizer<D>::take_leaves() {
    state_.leaves = leaves_->table();
    looked_at_ = nothing_looked_at;
    refresh_losses();
}

template <Design D>
void TreeOptimizer<D>::refresh_losses() {
    const std::size_t n_tasks = (members_.size() + rows_per_task - 1) / rows_per_task;
    parallel_for(n_tasks, options_.n_threads, [&](std::size_t task) {
        const std::size_t end = std::min(members_.size(), (task + 1) * rows_per_task);
        for (std::size_t i = task * rows_per_task; i < end; ++i) {
            const std::uint32_t row = members_[i];
            state_.loss_of[row] = leaves_->loss(row, state_.leaf_of[row]);
        }
    });
}

template <Design D>
Objective TreeOptimizer<D>::objective(std::span<const std::uint8_t> counts) const {
    const auto is_counted = [&](std::size_t node) { return counts.empty() || counts[node] != 0; };
    Objective sum;  // [B] eq. (1), each loss times the weight of its row as in [S] eq. (2)
    for (std::uint32_t row : members_) sum.loss += targets_.weights[row] * state_.loss_of[row];
    for (std::size_t node = 0; node < topology_.n_nodes(); ++node)
        if (!topology_.is_leaf(node) && is_counted(node)) sum.penalty += penalty({hyperplane(node), rows_.n_features});
    for (std::size_t leaf = 0; leaf < topology_.n_leaves(); ++leaf)
        if (is_counted(topology_.leaf_node[leaf])) sum.penalty += leaves_->penalty(leaf);
    return sum;
}

template <Design D>
std::size_t TreeOptimizer<D>::count_active() const {
    std::size_t count = 0;
    for (std::size_t split = 0; split < topology_.n_splits; ++split) {
        const std::span<const float> w(state_.splits.weights.data() + split * rows_.n_features, rows_.n_features);
        count += std::ranges::any_of(w, [](float x) { return x != 0.0F; }) ? 1 : 0;
    }
    return count;
}

template <Design D>
void TreeOptimizer<D>::restore(const TreeState& state) {
    state_ = state;
    leaves_->set_table(state.leaves);
    looked_at_ = nothing_looked_at;
    sort_rows();
}

#define SPINNEY_INSTANTIATE(D) template class TreeOptimizer<D>;
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
