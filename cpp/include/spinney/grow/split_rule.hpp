#pragma once
/// How a growing tree finds the split of a node. A rule is a small class in a file of its own; the grower knows only this
/// interface. Rules work in the space of `Scaling`, where all columns count alike, and answer with raw features.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spinney/grow/hyperplane.hpp"
#include "spinney/grow/impurity.hpp"
#include "spinney/leaf.hpp"
#include "spinney/random.hpp"
#include "spinney/scaling.hpp"

namespace spinney {

/// Rows of a node that were not drawn for its tree. Having no part in a split, they can say how good it is.
struct Judges {
    std::span<const std::uint32_t> rows;
    const Targets* targets = nullptr;
    std::span<const double> weights;  ///< one for each row of the sample
};

class SampleCodes;

/// What a rule sees: the rows of one node and their targets.
template <Design D>
struct GrowSite {
    const D& rows;
    const Scaling& scaling;
    std::span<const std::uint32_t> reach;
    const NodeTargets& targets;
    std::span<const std::uint32_t> columns;  ///< those that are not constant in the whole sample, ascending
    std::size_t n_candidates;                ///< columns, pairs or directions to try
    Judges judges{};                         ///< none if there are no rows out of the sample, or they are not asked
    const SampleCodes* codes = nullptr;      ///< of the columns of the table; without them columns are searched by value
};

template <Design D>
class SplitRule {
  public:
    virtual ~SplitRule() = default;  // virtual: the grower is compiled once, not once a rule
    /// A hyperplane for a node whose targets are not all alike; empty if there is none. The grower looks whether it
    /// parts the rows. Called from several threads at once. Loops over rows call check_stop_at (parallel.hpp).
    [[nodiscard]] virtual Hyperplane find(const GrowSite<D>& site, Random random) const = 0;
    /// Whether every node asks for its best column, so that codes pay.
    [[nodiscard]] virtual bool searches_columns() const { return false; }
};

/// Up to `count` distinct columns of the site in random order.
[[nodiscard]] std::vector<std::uint32_t> draw_columns(std::span<const std::uint32_t> columns, std::size_t count, Random& random);

/// Best of candidate columns by impurity (CART). Where none of them parts the rows, more are drawn. With codes a coordinate
/// stands for the column of the table that it belongs to, and sets of levels and the side of missing values are part of the
/// search.
template <Design D>
[[nodiscard]] Hyperplane best_axis(const GrowSite<D>& site, Random& random);

/// Moves the bias of a direction to its best cut. Returns the cut; the plane keeps its weights.
template <Design D>
Cut cut_along(const GrowSite<D>& site, Hyperplane& plane);

/// Loss of the judges in the two leaves of a split, which the rows of the site fill: log loss or squared error.
template <Design D>
[[nodiscard]] double judged_loss(const GrowSite<D>& site, const Hyperplane& plane);

template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> axis_rule();

/// Options of CO2 (co2-forest, Alg. 1).
struct CO2Options {
    double max_norm = 10.0;       ///< ν: largest squared length of (w, b)
    double learning_rate = 0.03;  ///< η
    double momentum = 0.9;
    std::size_t batch_size = 100;
    std::size_t max_epochs = 50;     ///< most passes over the rows of a node
    std::size_t refresh_epochs = 5;  ///< τ: passes between two tangents of the concave part
    std::size_t relabel_epochs = 0;  ///< first passes whose tangents lie where the leaves want the rows
    double tolerance = 1e-3;
};
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> co2_rule(const CO2Options& options);

/// Upper bound on the loss of a row of this score, which pays left_loss if the score is negative and right_loss if not
/// (right side of co2-forest, eq. (5)). It falls as the score grows in size (eq. (8)).
[[nodiscard]] inline double stump_bound(double score, double left_loss, double right_loss) {
    return std::max(left_loss - score, right_loss + score) - std::fabs(score);
}

/// Ho's splits: across the line between the two class means that lie farthest apart, at one of n_steps - 1 stops; or by a
/// perceptron that makes up to max_iter passes over the rows.
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> central_axis_rule(std::size_t n_steps);
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> perceptron_rule(std::size_t max_iter, std::size_t n_steps);

/// A rule that sees n_candidates random columns of each node; the rule itself, if there are no more than these.
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> in_subspaces(std::unique_ptr<SplitRule<D>> rule);

/// Coordinate search from the best column and from n_restarts random hyperplanes, with n_jumps random steps out of each local
/// minimum.
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> oc1_rule(std::size_t n_restarts, std::size_t n_jumps);

/// Best of random differences of two columns, or of random signed sums of up to most_columns of them.
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> probes_rule();
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> projections_rule(std::size_t most_columns);

/// A linear model of two groups of classes on some columns; `ridge` is a share of their mean variance.
enum class LinearModel : std::uint8_t { ridge, lda, logistic };
template <Design D>
[[nodiscard]] std::unique_ptr<SplitRule<D>> linear_rule(LinearModel model, double ridge);

}  // namespace spinney
