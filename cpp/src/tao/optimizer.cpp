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

/// Tasks of about rows_per_task rows for passes over the reduced sets of the nodes of a level, block after block: some nodes of
/// a block with all their rows there, or a part of the rows of one.
class LevelTasks {
  public:
    struct Task {
        std::size_t block, first_node, last_node;  ///< places in the list of nodes
        std::size_t first_row, n_rows;             ///< of a single node
    };

    template <class RowsOf>
    LevelTasks(std::size_t n_blocks, std::size_t n_nodes, const RowsOf& rows_of) {
        for (std::size_t block = 0; block < n_blocks; ++block) {
            std::size_t first = 0, size = 0;
            const auto close = [&](std::size_t last) {
                if (size > 0) tasks_.push_back({block, first, last, 0, everything});
                first = last;
                size = 0;
            };
            for (std::size_t i = 0; i < n_nodes; ++i) {
                const std::size_t count = rows_of(block, i).size();
                if (size + count > rows_per_task) close(i);
                size += count;
                if (count <= rows_per_task) continue;
                for (std::size_t row = 0; row < count; row += rows_per_task)
                    tasks_.push_back({block, i, i + 1, row, rows_per_task});
                first = i + 1;
                size = 0;
            }
            close(n_nodes);
        }
    }
    [[nodiscard]] std::span<const Task> tasks() const { return tasks_; }

  private:
    static constexpr std::size_t everything = static_cast<std::size_t>(-1);
    std::vector<Task> tasks_;
};

}  // namespace

template <Design D>
TreeOptimizer<D>::TreeOptimizer(const TrainingTable& table, const Scaling& scaling, const Targets& targets,
                                const Topology& topology, std::unique_ptr<Leaves> leaves, const OptimizerOptions& options,
                                std::shared_ptr<RowState> state)
    : rows_(std::get<D>(table.rows())), scaling_(scaling), targets_(targets), topology_(topology), leaves_(std::move(leaves)),
      solver_(table, scaling, targets.weights, options),
      rows_now_(state ? std::move(state) : std::make_shared<RowState>(targets.weights)) {
    state_.splits.weights.resize(topology_.n_splits * rows_.width());
    state_.splits.bias.resize(topology_.n_splits);
    state_.leaves = leaves_->table();
    typed_.take(state_.splits, rows_.width());
    if (rows_now_->owner == this) rows_now_->owner = nullptr;  // an earlier tree, now gone, had this address
}

/// Brings the rows to their leaves if another tree has had its turn.
template <Design D>
void TreeOptimizer<D>::take_rows() {
    if (rows_now_->owner == this) return;
    rows_now_->owner = this;
    looked_at_ = nothing_looked_at;
    route_all();
    refresh_losses();
}

template <Design D>
std::span<const std::uint32_t> TreeOptimizer<D>::leaf_of() {
    take_rows();
    return rows_now_->leaf_of;
}

template <Design D>
template <class Rank>
void TreeOptimizer<D>::take_turn(std::span<const Rank> leaf_of, LeafTable leaves) {
    if (rows_now_->owner != this) {
        rows_now_->owner = this;
        for (std::size_t n = 0; n < leaf_of.size(); ++n) {
            check_stop_at(n);
            rows_now_->leaf_of[n] = std::min<std::uint32_t>(leaf_of[n], static_cast<std::uint32_t>(topology_.n_leaves() - 1));
        }
        sort_rows();
    }
    set_leaves(std::move(leaves));
}

template <Design D>
void TreeOptimizer<D>::draw_splits(const Start& start) {
    rows_now_->owner = this;
    std::ranges::fill(rows_now_->leaf_of, 0U);
    sort_rows();
    for (const auto& level : topology_.levels) {
        parallel_for(level.size(), n_threads(), [&](std::size_t i) { draw_split(static_cast<std::size_t>(level[i]), start); });
        sort_rows();
    }
    typed_.take(state_.splits, rows_.width());
    fit_leaves(0, false);
}

/// Draws one split and sends its rows, which all sit in the first leaf below it, to the side it says.
template <Design D>
void TreeOptimizer<D>::draw_split(std::size_t node, const Start& start) {
    Random random(solver_.options().start_seed, start_stream, node);
    std::vector<std::uint32_t> copy;
    const auto rows = reach(node).joined(copy);
    const auto columns = solver_.columns_of(node);
    const auto w = hyperplane(node);
    draw_hyperplane<D>({rows_, scaling_, targets_, rows, columns}, start, random, w, bias(node));
    const SideOf<D> side(rows_, w, bias(node));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check_stop_at(i);
        rows_.prefetch(rows[std::min(i + 1, rows.size() - 1)]);
        if (side.is_right(rows[i])) rows_now_->leaf_of[rows[i]] = static_cast<std::uint32_t>(topology_.middle(node));
    }
}

template <Design D>
void TreeOptimizer<D>::set_splits(SplitTable splits, LeafTable leaves) {
    state_.splits = std::move(splits);
    typed_.take(state_.splits, rows_.width());
    looked_at_ = nothing_looked_at;
    rows_now_->owner = this;
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
    take_rows();
    leaves_->set_table(std::move(leaves));
    take_leaves();
}

template <Design D>
void TreeOptimizer<D>::route_all() {
    visit_members([&](std::span<const std::uint32_t> batch) {
        std::array<std::int32_t, most_walk_rows> at{};
        at.fill(topology_.code(0));
        walk_typed(rows_, batch, typed_, split_arrays(), {at.data(), batch.size()});
        for (std::size_t r = 0; r < batch.size(); ++r) rows_now_->leaf_of[batch[r]] = static_cast<std::uint32_t>(~at[r]);
    });
    sort_rows();
}

template <Design D>
void TreeOptimizer<D>::sort_rows() {
    const std::uint32_t* leaf_of = rows_now_->leaf_of.data();
    rows_now_->sorted.sort(topology_.n_leaves(), [leaf_of](std::uint32_t row) { return leaf_of[row]; }, n_threads());
}

/// visit(batch) for all rows that take part, in parallel.
template <Design D>
template <class Visit>
void TreeOptimizer<D>::visit_members(const Visit& visit) const {
    const auto rows = members();
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
    const auto rows_of = [&](std::size_t block, std::size_t i) {
        return reach(static_cast<std::size_t>(nodes[i])).of_block(block);
    };
    const LevelTasks level(rows_now_->sorted.n_blocks(), nodes.size(), rows_of);
    const std::size_t together = walk_rows(rows_.width());
    parallel_for(level.tasks().size(), n_threads(), [&](std::size_t t) {
        const auto& task = level.tasks()[t];
        for (std::size_t i = task.first_node; i < task.last_node; ++i) {
            const auto all = rows_of(task.block, i);
            const auto rows = all.subspan(task.first_row, std::min(task.n_rows, all.size() - task.first_row));
            for (std::size_t first = 0; first < rows.size(); first += together) {
                const std::size_t next = std::min(first + together, rows.size());
                for (std::size_t r = next + together; r < std::min(next + 2 * together, rows.size()); ++r)
                    rows_.prefetch(rows[r]);
                visit(static_cast<std::size_t>(nodes[i]), rows.subspan(first, next - first));
            }
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
    RowState& now = *rows_now_;
    for (std::size_t r = 0; r < batch.size(); ++r) at[r] = now.leaf_of[batch[r]] >= middle ? left : right;
    walk_typed(rows_, batch, typed_, split_arrays(), {at.data(), batch.size()});
    for (std::size_t r = 0; r < batch.size(); ++r) {
        now.other_leaf[batch[r]] = static_cast<std::uint32_t>(~at[r]);
        now.other_loss[batch[r]] = leaves_->loss(batch[r], now.other_leaf[batch[r]]);
    }
}

/// Sends the rows of a changed split to the side it now says.
template <Design D>
void TreeOptimizer<D>::reroute(std::size_t node, std::span<const std::uint32_t> batch) {
    const SideOf<D> side(rows_, hyperplane(node), bias(node), typed_[split_number(node)]);
    RowState& now = *rows_now_;
    for (std::uint32_t row : batch) {
        if (side.is_right(row) == is_right(row, node)) continue;
        now.leaf_of[row] = now.other_leaf[row];
        now.loss_of[row] = now.other_loss[row];
    }
}

/// look_at_sibling for the children of `node`, each with its part of the batch.
template <Design D>
void TreeOptimizer<D>::look_below(std::size_t node, std::span<const std::uint32_t> batch) {
    std::array<std::uint32_t, most_walk_rows> left{}, right{};
    std::size_t n_left = 0;
    std::size_t n_right = 0;
    for (std::uint32_t row : batch) {
        if (is_right(row, node))
            right[n_right++] = row;
        else
            left[n_left++] = row;
    }
    look_at_sibling(static_cast<std::size_t>(topology_.left[node]), {left.data(), n_left});
    look_at_sibling(static_cast<std::size_t>(topology_.right[node]), {right.data(), n_right});
}

template <Design D>
CarePoints TreeOptimizer<D>::care_points(std::size_t node) {
    take_rows();
    const auto number = static_cast<std::int32_t>(node);
    visit_reach({&number, 1}, [&](std::size_t i, std::span<const std::uint32_t> batch) { look_at_sibling(i, batch); });
    looked_at_ = nothing_looked_at;  // the look at another level has been overwritten
    std::vector<std::uint32_t> copy;
    return find_care_points(reduced_set(node, copy), targets_);
}

/// [S] eq. (4) for the present split: its rows are where it sends them, so that no row has to be looked at.
template <Design D>
double TreeOptimizer<D>::present_cost(const CarePoints& care, std::size_t node) const {
    const double cost = sum_by_block(
        care.rows, [&](std::size_t i) { return is_right(care.rows[i], node) != (care.labels[i] > 0) ? care.weights[i] : 0.0; });
    return cost + solver_.penalty(hyperplane(node));
}

/// Solves the reduced problem of one split; true if the split has changed.
template <Design D>
bool TreeOptimizer<D>::solve_node(std::size_t node, std::uint64_t sweep, bool is_guarded) {
    std::vector<std::uint32_t> copy;
    const ReducedSet set = reduced_set(node, copy);
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
        if (is_guarded || !reach(node).is_empty()) nodes.push_back(number);
        // Rows may come later, and a guard may then keep the split as it is.
        else
            solver_.keep_to_limit(hyperplane(node), bias(node));
    }
    std::ranges::stable_sort(nodes, std::greater{},
                             [&](std::int32_t node) { return reach(static_cast<std::size_t>(node)).size(); });
    return nodes;
}

/// The nodes of a level do not depend on each other: [B] section 3, separability condition.
template <Design D>
void TreeOptimizer<D>::solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) {
    take_rows();
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
    for (std::int32_t node : level)
        typed_.take(split_number(static_cast<std::size_t>(node)), hyperplane(static_cast<std::size_t>(node)));

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
double TreeOptimizer<D>::leaf_cost(std::size_t leaf, std::span<const std::uint32_t> rows) const {
    return leaves_->penalty(leaf) +
           sum_by_block(rows, [&](std::size_t i) { return targets_.weights[rows[i]] * leaves_->loss(rows[i], leaf); });
}

template <Design D>
void TreeOptimizer<D>::fit_leaf(std::size_t leaf, std::uint64_t sweep, bool is_guarded) {
    std::vector<std::uint32_t> copy;
    const auto rows = rows_now_->sorted.in_leaf(leaf).joined(copy);
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
    const double old_cost = leaf_cost(leaf, rows);
    leaves_->fit(leaf, rows, random);
    if (!(leaf_cost(leaf, rows) <= old_cost)) leaves_->set_row(leaf, before);
}

/// Optimising over a leaf is training its predictor on its reduced set: [B] section 3.
template <Design D>
void TreeOptimizer<D>::fit_leaves(std::uint64_t sweep, bool is_guarded) {
    take_rows();
    parallel_for(topology_.n_leaves(), n_threads(), [&](std::size_t leaf) { fit_leaf(leaf, sweep, is_guarded); });
    take_leaves();
}

template <Design D>
void TreeOptimizer<D>::clear_empty_leaves() {
    take_rows();
    for (std::size_t leaf = 0; leaf < topology_.n_leaves(); ++leaf)
        if (rows_now_->sorted.in_leaf(leaf).is_empty()) leaves_->clear(leaf);
    state_.leaves = leaves_->table();
    looked_at_ = nothing_looked_at;
}

template <Design D>
void TreeOptimizer<D>::relax_leaves(const RelaxOptions& options) {
    take_rows();
    parallel_for(topology_.n_leaves(), n_threads(), [&](std::size_t leaf) {
        std::vector<std::uint32_t> copy;
        leaves_->relax(leaf, rows_now_->sorted.in_leaf(leaf).joined(copy), options);
    });
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
        for (std::uint32_t row : batch) rows_now_->loss_of[row] = leaves_->loss(row, rows_now_->leaf_of[row]);
    });
}

template <Design D>
Objective TreeOptimizer<D>::objective(std::span<const std::uint8_t> counts) {
    take_rows();
    const auto is_counted = [&](std::size_t node) { return counts.empty() || counts[node] != 0; };
    Objective sum;  // the two terms of [B] eq. (1), each loss times the weight of its row as in [S] eq. (2)
    const auto rows = members();
    sum.loss = sum_by_block(rows, [&](std::size_t i) { return targets_.weights[rows[i]] * rows_now_->loss_of[rows[i]]; });
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
    set_splits(state.splits, state.leaves);
}

#define SPINNEY_INSTANTIATE(D)                                                            \
    template class TreeOptimizer<D>;                                                      \
    template void TreeOptimizer<D>::take_turn(std::span<const std::uint8_t>, LeafTable);  \
    template void TreeOptimizer<D>::take_turn(std::span<const std::uint16_t>, LeafTable); \
    template void TreeOptimizer<D>::take_turn(std::span<const std::uint32_t>, LeafTable);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
