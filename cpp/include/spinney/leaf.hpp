#pragma once
/// Leaf predictors of a tree under optimisation: loss of a row in a leaf, and refitting of one leaf.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "spinney/convex.hpp"
#include "spinney/link.hpp"
#include "spinney/relax.hpp"
#include "spinney/solve_linear.hpp"

namespace spinney {

/// What the tree has to predict; borrowed.
struct Targets {
    std::span<const std::int32_t> classes;  ///< one code a row; empty for regression
    std::span<const double> values;         ///< n_outputs numbers a row; empty if classes say all
    std::span<const double> weights;        ///< positive sample weights
    std::size_t n_outputs = 0;              ///< classes, or regression outputs
};

enum class ClassLoss : std::uint8_t { zero_one, log_loss };

/// Probabilities below this count as this in the log loss: a row in a leaf that never saw its class
/// must not outweigh all others.
inline constexpr double probability_floor = 1e-3;

/// Leaf parameters as arrays: n_leaves x n_outputs values (class fractions, means or intercepts) and,
/// for linear leaves, as many hyperplanes over raw features.
struct LeafTable {
    std::vector<double> values;
    std::vector<float> weights;
};

class Leaves {
  public:
    virtual ~Leaves() = default;  // virtual: the sweep is compiled once, not once a leaf type and loss

    /// Loss of a row if it ended in `leaf`, without its sample weight.
    [[nodiscard]] virtual double loss(std::size_t row, std::size_t leaf) const = 0;
    /// Refits one leaf on its reduced set; distinct leaves may be refitted by distinct threads.
    virtual void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random random) = 0;
    /// Whether a leaf can be told to predict one class.
    [[nodiscard]] virtual bool has_labels() const { return false; }
    /// Makes a leaf predict one class with certainty.
    virtual void set_label(std::size_t /*leaf*/, std::size_t /*label*/) {}
    /// Most non-zero weights of each hyperplane fitted from now on; 0 for any number.
    virtual void limit_weights(std::size_t /*max_weights*/) {}
    /// Drops what a leaf that no row reaches has beyond that limit: rows may come, and a guard may then keep it.
    virtual void keep_limit(std::size_t /*leaf*/) {}
    /// Frees a leaf that no row reaches of its penalty: the least value of its share of the objective (fao §3).
    virtual void clear(std::size_t /*leaf*/) {}
    /// Refits one linear leaf on the features it uses, without its penalty. Constant leaves have none.
    virtual void relax(std::size_t /*leaf*/, std::span<const std::uint32_t> /*rows*/, const RelaxOptions& /*options*/) {}
    /// alpha |theta|_1 (or the squared penalty) of one leaf's parameters.
    [[nodiscard]] virtual double penalty(std::size_t leaf) const = 0;

    /// One flag a leaf: whether it has been fitted, where the next fit depends on it. Empty where it does not.
    [[nodiscard]] virtual std::span<const std::uint8_t> fitted() const { return {}; }
    virtual void set_fitted(std::span<const std::uint8_t> /*flags*/) {}

    [[nodiscard]] const LeafTable& table() const { return table_; }
    void set_table(LeafTable table) {
        table_ = std::move(table);
        refresh();
    }
    /// Parameters of one leaf, to undo a refit.
    [[nodiscard]] LeafTable row(std::size_t leaf) const;
    void set_row(std::size_t leaf, const LeafTable& row);

  protected:
    virtual void refresh_leaf(std::size_t) {}
    void refresh() {
        for (std::size_t leaf = 0; leaf < n_leaves_; ++leaf) refresh_leaf(leaf);
    }
    std::size_t n_leaves_ = 0, n_outputs_ = 0;
    LeafTable table_;
};

[[nodiscard]] std::unique_ptr<Leaves> constant_class_leaves(const Targets& targets, std::size_t n_leaves, ClassLoss loss);
[[nodiscard]] std::unique_ptr<Leaves> constant_value_leaves(const Targets& targets, std::size_t n_leaves, TargetLoss loss,
                                                            double delta, LeafPenalty penalty = {});

/// Losses of the scores that several trees give the classes together.
enum class ScoreLoss : std::uint8_t {
    squared_hinge,  ///< squared distance of the own score to at least, of the others to at most, what is wanted
    log_loss,       ///< cross-entropy of the softmax of what is given less what is wanted
};

/// A vector of class scores in each leaf. `targets.values` are the scores that are left to this tree, what is
/// wanted less what the other trees give, and `targets.classes` the classes.
[[nodiscard]] std::unique_ptr<Leaves> score_leaves(const Targets& targets, std::size_t n_leaves, ScoreLoss loss,
                                                   LeafPenalty penalty);

/// Penalty of linear leaves and the effort of a refit.
struct LinearLeafOptions {
    LinearOptions solver;
    ClassLoss class_loss = ClassLoss::zero_one;
    TargetLoss target_loss = TargetLoss::squared;
    double delta = 1.0;
};

/// Softmax regression (classes) or linear regression (values) in each leaf.
template <Design D>
[[nodiscard]] std::unique_ptr<Leaves> linear_leaves(const D& rows, const Scaling& scaling, std::span<const float> squared_norms,
                                                    const Targets& targets, std::size_t n_leaves,
                                                    const LinearLeafOptions& options);

/// argmin_v of sum_n w_n loss(y_n - v) + penalty: mean, lower weighted median, or Huber's location.
[[nodiscard]] double best_constant(std::span<const double> values, std::span<const double> weights, TargetLoss kind, double delta,
                                   LeafPenalty penalty = {});

}  // namespace spinney
