#pragma once
/// Tree Alternating Optimization ([B] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees", section 3) of one
/// tree: the state of the tree under optimisation and the steps over one level of splits and over the leaves. Which step comes
/// when is decided by the caller.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spinney/leaf.hpp"
#include "spinney/tao/care_points.hpp"
#include "spinney/tao/row_state.hpp"
#include "spinney/tao/split_solver.hpp"
#include "spinney/tao/start.hpp"
#include "spinney/tao/typed_splits.hpp"
#include "spinney/tree.hpp"

namespace spinney {

/// All that a step decides; copied to keep the best tree seen. Where rows are and what they lose follows from it.
struct TreeState {
    SplitTable splits;
    LeafTable leaves;
};

struct Objective {
    double loss = 0.0, penalty = 0.0;
};

/// Rows of weight 0 are left out: they reach no node, so that many trees can share the rows of one table
/// and differ in their weights alone. After an Interrupted the tree is half way between two states, and of no use.
template <Design D>
class TreeOptimizer {
  public:
    /// Table and scaling are borrowed. Trees of the same rows and weights may share a row state if they take turns; without one
    /// the tree gets its own.
    TreeOptimizer(const TrainingTable& table, const Scaling& scaling, const Targets& targets, const Topology& topology,
                  std::unique_ptr<Leaves> leaves, const OptimizerOptions& options, std::shared_ptr<RowState> state = nullptr);

    /// Draws every split from the root down, each from the rows that the splits above send it.
    void draw_splits(const Start& start);
    /// Starts from given splits (full hyperplanes) and, if it is not empty, a given leaf table.
    void set_splits(SplitTable splits, LeafTable leaves);

    /// Goes on from a state of an earlier run, as it was after `fit_leaves`, bit for bit: the rows are where the splits
    /// send them and lose what the leaves say, so neither has to be told.
    void resume(SplitTable splits, LeafTable leaves, std::span<const std::uint8_t> fitted);
    /// Flags of `Leaves::fitted`, the part of such a state that `state()` does not hold.
    [[nodiscard]] std::span<const std::uint8_t> fitted() const { return leaves_->fitted(); }

    /// Takes leaves that were fitted elsewhere, and looks at the targets anew: they may have changed, too.
    void set_leaves(LeafTable leaves);

    /// Rank of the leaf that each row is in; 0 for rows of no weight.
    [[nodiscard]] std::span<const std::uint32_t> leaf_of();
    /// Tells a tree whose turn comes where its rows are, as `leaf_of` told when its last turn ended, with leaves that may have
    /// changed since. Else it would send them down again.
    template <class Rank>
    void take_turn(std::span<const Rank> leaf_of, LeafTable leaves);

    /// Most non-zero weights of the splits and of each hyperplane in linear leaves from now on; 0 for any number.
    void limit_weights(std::size_t of_split, std::size_t of_leaf) {
        solver_.limit_weights(of_split);
        leaves_->limit_weights(of_leaf);
    }

    /// Solves the reduced problem of every split of one depth. Guarded: a split is replaced only if
    /// that lowers its share of the objective. `is_next_below` says that the next level to be solved is
    /// the one below, which saves a pass over the rows.
    void solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below);
    /// Refits every leaf on its reduced set, guarded or not.
    void fit_leaves(std::uint64_t sweep, bool is_guarded);

    /// Frees leaves that no row reaches of their penalty, which lowers the objective and changes no loss.
    void clear_empty_leaves();

    /// Refits linear leaves on the features they use, without their penalty.
    void relax_leaves(const RelaxOptions& options);

    /// Loss and penalties of the tree; given `counts`, a flag a node, the penalties of flagged nodes alone.
    [[nodiscard]] Objective objective(std::span<const std::uint8_t> counts = {});
    [[nodiscard]] std::size_t count_active() const;
    /// Number of rows that reach a node.
    [[nodiscard]] std::size_t count_reach(std::size_t node) {
        take_rows();
        return reach(node).size();
    }
    /// Rows that take part, ascending.
    [[nodiscard]] std::span<const std::uint32_t> members() const { return rows_now_->sorted.members(); }
    /// Loss of each row in its leaf.
    [[nodiscard]] std::span<const double> loss_of() {
        take_rows();
        return rows_now_->loss_of;
    }
    [[nodiscard]] const TreeState& state() const { return state_; }
    void restore(const TreeState& state);
    [[nodiscard]] const Topology& topology() const { return topology_; }
    /// Weights of each hyperplane in the state: columns, and zeros where rows are padded.
    [[nodiscard]] std::size_t width() const { return rows_.width(); }
    [[nodiscard]] CarePoints care_points(std::size_t node);

  private:
    [[nodiscard]] ReachedRows reach(std::size_t node) const { return rows_now_->sorted.below(topology_, node); }
    [[nodiscard]] bool is_right(std::uint32_t row, std::size_t node) const {
        return rows_now_->leaf_of[row] >= topology_.middle(node);
    }
    [[nodiscard]] ReducedSet reduced_set(std::size_t node, std::vector<std::uint32_t>& copy) {
        return {reach(node).joined(copy), topology_.first_leaf[node], topology_.middle(node), topology_.end_leaf[node],
                rows_now_->leaf_of,       rows_now_->loss_of,         rows_now_->other_loss};
    }
    [[nodiscard]] std::size_t split_number(std::size_t node) const {
        return static_cast<std::size_t>(topology_.split_of_node[node]);
    }
    [[nodiscard]] std::span<float> hyperplane(std::size_t node) {
        return std::span(state_.splits.weights).subspan(split_number(node) * rows_.width(), rows_.width());
    }
    [[nodiscard]] std::span<const float> hyperplane(std::size_t node) const {
        return std::span(state_.splits.weights).subspan(split_number(node) * rows_.width(), rows_.width());
    }
    [[nodiscard]] double& bias(std::size_t node) { return state_.splits.bias[split_number(node)]; }
    [[nodiscard]] SplitArrays split_arrays() const {
        return {state_.splits.weights.data(), state_.splits.bias.data(), topology_.child.data()};
    }
    [[nodiscard]] std::size_t n_threads() const { return solver_.options().n_threads; }

    void draw_split(std::size_t node, const Start& start);
    void take_rows();
    void route_all();
    void sort_rows();
    template <class Visit>
    void visit_members(const Visit& visit) const;
    template <class Visit>
    void visit_reach(std::span<const std::int32_t> nodes, const Visit& visit);

    void look_at_sibling(std::size_t node, std::span<const std::uint32_t> batch);
    void look_below(std::size_t node, std::span<const std::uint32_t> batch);
    void reroute(std::size_t node, std::span<const std::uint32_t> batch);

    [[nodiscard]] std::vector<std::int32_t> nodes_to_solve(std::size_t depth, bool is_guarded);
    bool solve_node(std::size_t node, std::uint64_t sweep, bool is_guarded);
    [[nodiscard]] double present_cost(const CarePoints& care, std::size_t node) const;

    void fit_leaf(std::size_t leaf, std::uint64_t sweep, bool is_guarded);
    [[nodiscard]] double leaf_cost(std::size_t leaf, std::span<const std::uint32_t> rows) const;
    void take_leaves();
    void refresh_losses();

    const D& rows_;
    const Scaling& scaling_;
    Targets targets_;
    Topology topology_;
    std::unique_ptr<Leaves> leaves_;
    SplitSolver<D> solver_;
    TreeState state_;
    TypedSplits typed_;
    std::shared_ptr<RowState> rows_now_;
    static constexpr std::size_t nothing_looked_at = static_cast<std::size_t>(-1);
    std::size_t looked_at_ = nothing_looked_at;  ///< level for which the other leaves and losses are up to date
};

}  // namespace spinney
