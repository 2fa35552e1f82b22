/// [B] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees"; [S] Gabidolla, Zharmagambetov and
/// Carreira-Perpiñán, "Improved multiclass AdaBoost"; see docs/algorithms.

#include "spinney/tao/optimizer.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "spinney/parallel.hpp"
#include "streams.hpp"

namespace spinney {
namespace {

constexpr std::size_t rows_per_task = 1024;

}  // namespace

template <Design D>
TreeOptimizer<D>::TreeOptimizer(const TrainingTable& table, const Scaling& scaling, const Targets& targets,
                                const Topology& topology, std::unique_ptr<Leaves> leaves, const OptimizerOptions& options)
    : rows_(std::get<D>(table.rows())), scaling_(scaling), targets_(targets), topology_(topology), leaves_(std::move(leaves)),
      solver_(table, scaling, targets.weights, options), sorted_(targets.weights, topology.n_leaves()), other_leaf_(rows_.n_rows),
      other_loss_(rows_.n_rows) {
    state_.splits.weights.resize(topology_.n_splits * rows_.width());
    state_.splits.bias.resize(topology_.n_splits);
    state_.leaf_of.resize(rows_.n_rows);
    state_.loss_of.resize(rows_.n_rows);
    state_.leaves = leaves_->table();
    sort_rows();
}

template <Design D>
void TreeOptimizer<D>::draw_splits(const Start& start) {
    for (const auto& level : topology_.levels) {
        parallel_for(level.size(), n_threads(), [&](std::size_t i) { draw_split(static_cast<std::size_t>(level[i]), start); });
        sort_rows();
    }
    fit_leaves(0, false);
}

/// Draws one split and sends its rows, which all sit in the first leaf below it, to the side it says.
template <Design D>
void TreeOptimizer<D>::draw_split(std::size_t node, const Start& start) {
    Random random(solver_.options().start_seed, start_stream, node);
    const auto rows = reach(node);
    const auto columns = solver_.columns_of(node);
    const auto w = hyperplane(node);
    draw_hyperplane<D>({rows_, scaling_, targets_, rows, columns}, start, random, w, bias(node));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check_stop_at(i);
        rows_.prefetch(rows[std::min(i + 1, rows.size() - 1)]);
        if (rows_.dot(rows[i], w.data()) + bias(node) >= 0.0)
            state_.leaf_of[rows[i]] = static_cast<std::uint32_t>(topology_.middle(node));
    }
}

template <Design D>
void TreeOptimizer<D>::set_splits(SplitTable splits, LeafTable leaves) {
    state_.splits = std::move(splits);
    looked_at_ = nothing_looked_at;
    route_all();
    if (leaves.values.empty())
        fit_leaves(0, false);
    else
        set_leaves(std::move(leaves));
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
    visit_members([&](std::span<const std::uint32_t> batch) {
        std::array<std::int32_t, most_walk_rows> at{};
        at.fill(topology_.code(0));
        walk_batch(rows_, batch, split_arrays(), {at.data(), batch.size()});
        for (std::size_t r = 0; r < batch.size(); ++r) state_.leaf_of[batch[r]] = static_cast<std::uint32_t>(~at[r]);
    });
    sort_rows();
}

template <Design D>
void TreeOptimizer<D>::sort_rows() {
    sorted_.sort([&](std::uint32_t row) { return state_.leaf_of[row]; });
}

/// visit(batch) for all rows that take part, in parallel over blocks of them.
template <Design D>
template <class Visit>
void TreeOptimizer<D>::visit_members(const Visit& visit) const {
    const auto rows = sorted_.members();
    const std::size_t n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    const std::size_t together = walk_rows(rows_.width());
    parallel_for(n_tasks, n_threads(), [&](std::size_t task) {
        const std::size_t first = task * rows_per_task;
        const auto block = rows.subspan(first, std::min(rows_per_task, rows.size() - first));
        for (std::size_t i = 0; i < block.size(); i += together) visit(block.subspan(i, std::min(together, block.size() - i)));
    });
}

/// visit(node, batch) for the reduced sets of all `nodes`, in parallel over blocks of rows.
template <Design D>
template <class Visit>
void TreeOptimizer<D>::visit_reach(std::span<const std::int32_t> nodes, const Visit& visit) {
    struct Task {
        std::size_t node;
        std::span<const std::uint32_t> rows;
    };
    std::vector<Task> tasks;
    for (std::int32_t number : nodes) {
        const auto node = static_cast<std::size_t>(number);
        const auto rows = reach(node);
        for (std::size_t i = 0; i < rows.size(); i += rows_per_task)
            tasks.push_back({node, rows.subspan(i, std::min(rows_per_task, rows.size() - i))});
    }
    const std::size_t together = walk_rows(rows_.width());
    parallel_for(tasks.size(), n_threads(), [&](std::size_t t) {
        const auto rows = tasks[t].rows;
        for (std::size_t first = 0; first < rows.size(); first += together) {
            const std::size_t next = std::min(first + together, rows.size());
            for (std::size_t i = next + together; i < std::min(next + 2 * together, rows.size()); ++i) rows_.prefetch(rows[i]);
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
    std::array<std::int32_t, most_walk_rows> at{};
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
        const bool is_right = rows_.dot(row, hyperplane(node).data()) + bias(node) >= 0.0;
        if (is_right == (state_.leaf_of[row] >= topology_.middle(node))) continue;
        state_.leaf_of[row] = other_leaf_[row];
        state_.loss_of[row] = other_loss_[row];
    }
}

/// look_at_sibling for the children of `node`, each with its part of the batch.
template <Design D>
void TreeOptimizer<D>::look_below(std::size_t node, std::span<const std::uint32_t> batch) {
    std::array<std::uint32_t, most_walk_rows> left{}, right{};
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

template <Design D>
CarePoints TreeOptimizer<D>::care_points(std::size_t node) {
    const auto number = static_cast<std::int32_t>(node);
    visit_reach({&number, 1}, [&](std::size_t i, std::span<const std::uint32_t> batch) { look_at_sibling(i, batch); });
    looked_at_ = nothing_looked_at;  // the look at another level has been overwritten
    return find_care_points(reduced_set(node), targets_);
}

/// [S] eq. (4) for the present split: its rows are where it sends them, so that no row has to be looked at.
template <Design D>
double TreeOptimizer<D>::present_cost(const CarePoints& care, std::size_t node) const {
    double cost = 0.0;
    for (std::size_t i = 0; i < care.rows.size(); ++i) {
        const bool is_right = state_.leaf_of[care.rows[i]] >= topology_.middle(node);
        if (is_right != (care.labels[i] > 0)) cost += care.weights[i];
    }
    return cost + solver_.penalty(hyperplane(node));
}

/// Solves the reduced problem of one split; true if the split has changed.
template <Design D>
bool TreeOptimizer<D>::solve_node(std::size_t node, std::uint64_t sweep, bool is_guarded) {
    const ReducedSet set = reduced_set(node);
    CarePoints care = find_care_points(set, targets_);
    if (!is_guarded && leaves_->has_labels() && care.are_one_sided() && relabel_idle_child(set, care, targets_, *leaves_))
        care = find_care_points(set, targets_);
    const auto present = hyperplane(node);
    std::vector<float> w(present.begin(), present.end());
    double new_bias = bias(node);
    if (care.rows.empty() && !is_guarded) {  // any split is as good; the present one is kept
        if (solver_.most_weights() == 0) return false;
        solver_.keep_to_limit(w, new_bias);
    } else {
        // The root has all threads to itself; the splits below share them.
        solver_.propose({node, sweep, topology_.depth[node] == 0 ? n_threads() : 1}, care, w, new_bias);
    }
    // Never updated for the worse: [B] section 3, footnote 2.
    if (is_guarded && !(solver_.prefer_constant(care, w, new_bias) < present_cost(care, node))) return false;
    std::ranges::copy(w, present.begin());
    bias(node) = new_bias;
    return true;
}

/// Splits of a level, largest first, so that threads end together. A node that no row reaches only costs its penalty: a
/// guarded sweep visits it too and makes it a constant.
template <Design D>
std::vector<std::int32_t> TreeOptimizer<D>::nodes_to_solve(std::size_t depth, bool is_guarded) {
    std::vector<std::int32_t> nodes;
    for (std::int32_t number : topology_.levels[depth]) {
        const auto node = static_cast<std::size_t>(number);
        if (is_guarded || count_reach(node) > 0) nodes.push_back(number);
        // Rows may come later, and a guard may then keep the split as it is.
        else
            solver_.keep_to_limit(hyperplane(node), bias(node));
    }
    std::ranges::stable_sort(nodes, std::greater{},
                             [&](std::int32_t node) { return count_reach(static_cast<std::size_t>(node)); });
    return nodes;
}

/// The nodes of a level do not depend on each other: [B] section 3, separability condition.
template <Design D>
void TreeOptimizer<D>::solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) {
    const auto& level = topology_.levels[depth];
    const auto look = [&](std::size_t node, std::span<const std::uint32_t> batch) { look_at_sibling(node, batch); };
    if (looked_at_ != depth) visit_reach(level, look);
    looked_at_ = nothing_looked_at;

    const std::vector<std::int32_t> nodes = nodes_to_solve(depth, is_guarded);
    std::vector<char> is_changed(topology_.n_nodes(), 0);
    parallel_for(nodes.size(), n_threads(), [&](std::size_t i) {
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

/// A leaf's share of the objective: [S] eq. (2) over its reduced set.
template <Design D>
double TreeOptimizer<D>::leaf_cost(std::size_t leaf) const {
    const auto rows = sorted_.in_leaf(leaf);
    double sum = leaves_->penalty(leaf);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check_stop_at(i);
        sum += targets_.weights[rows[i]] * leaves_->loss(rows[i], leaf);
    }
    return sum;
}

template <Design D>
void TreeOptimizer<D>::fit_leaf(std::size_t leaf, std::uint64_t sweep, bool is_guarded) {
    const auto rows = sorted_.in_leaf(leaf);
    if (rows.empty()) {
        leaves_->keep_limit(leaf);
        return;
    }
    const Random random(solver_.options().seed, leaf_stream + sweep, topology_.leaf_node[leaf]);
    if (!is_guarded) {
        leaves_->fit(leaf, rows, random);
        return;
    }
    const LeafTable before = leaves_->row(leaf);
    const double old_cost = leaf_cost(leaf);
    leaves_->fit(leaf, rows, random);
    if (!(leaf_cost(leaf) <= old_cost)) leaves_->set_row(leaf, before);
}

/// Optimising over a leaf is training its predictor on its reduced set: [B] section 3.
template <Design D>
void TreeOptimizer<D>::fit_leaves(std::uint64_t sweep, bool is_guarded) {
    parallel_for(topology_.n_leaves(), n_threads(), [&](std::size_t leaf) { fit_leaf(leaf, sweep, is_guarded); });
    take_leaves();
}

template <Design D>
void TreeOptimizer<D>::clear_empty_leaves() {
    for (std::size_t leaf = 0; leaf < topology_.n_leaves(); ++leaf)
        if (sorted_.in_leaf(leaf).empty()) leaves_->clear(leaf);
    state_.leaves = leaves_->table();
    looked_at_ = nothing_looked_at;
}

template <Design D>
void TreeOptimizer<D>::relax_leaves(const RelaxOptions& options) {
    parallel_for(topology_.n_leaves(), n_threads(),
                 [&](std::size_t leaf) { leaves_->relax(leaf, sorted_.in_leaf(leaf), options); });
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
    visit_members([&](std::span<const std::uint32_t> batch) {
        for (std::uint32_t row : batch) state_.loss_of[row] = leaves_->loss(row, state_.leaf_of[row]);
    });
}

template <Design D>
Objective TreeOptimizer<D>::objective(std::span<const std::uint8_t> counts) const {
    const auto is_counted = [&](std::size_t node) { return counts.empty() || counts[node] != 0; };
    Objective sum;  // the two terms of [B] eq. (1), each loss times the weight of its row as in [S] eq. (2)
    for (std::uint32_t row : members()) sum.loss += targets_.weights[row] * state_.loss_of[row];
    for (std::size_t node = 0; node < topology_.n_nodes(); ++node)
        if (!topology_.is_leaf(node) && is_counted(node)) sum.penalty += solver_.penalty(hyperplane(node));
    for (std::size_t leaf = 0; leaf < topology_.n_leaves(); ++leaf)
        if (is_counted(topology_.leaf_node[leaf])) sum.penalty += leaves_->penalty(leaf);
    return sum;
}

template <Design D>
std::size_t TreeOptimizer<D>::count_active() const {
    std::size_t count = 0;
    for (std::size_t split = 0; split < topology_.n_splits; ++split) {
        const auto w = std::span(state_.splits.weights).subspan(split * rows_.width(), rows_.width());
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
