#pragma once
/// All leaves of a forest at once, with a penalty on the absolute values of each.

#include <cstddef>
#include <span>
#include <vector>

#include "spinney/leaf_design.hpp"

namespace spinney {

/// Lasso regression on the leaves, for as many targets as one likes: coordinate descent, one leaf after the other.
///
/// Outputs do not know of each other; each is one task for the threads. Where leaves are few, the residual is kept as its
/// sums over leaves, and a changed leaf moves them by a row of the normal matrix A'WA; otherwise it is kept by rows, and
/// the leaves of a tree, which share no row, are moved together in one pass over the rows.
///
/// Trees say nearly the same, so that plain descent is slow where the penalty is small. Two remedies: the penalty
/// begins at half of the largest slope that the start leaves, and is halved until it is the one wanted, once more from
/// zero where the duality gap stays wide; and after every few sweeps it goes towards the point to which they seem to lead
/// (Anderson's extrapolation, Bertrand and Massias, AISTATS 2021), as far as the sum falls.
class LeafLasso {
  public:
    /// `l1` is the weight of the absolute leaf values against the weighted sum of squares; it has to be positive. A leaf
    /// belongs to one tree. The normal matrix of at most `gram_limit` leaves is counted.
    LeafLasso(const LeafDesign& design, double l1, std::size_t gram_limit, std::size_t n_threads);

    /// argmin over `values` (n_leaves x n_outputs) of sum_n w_n |target_n - values of its leaves|^2 + l1 |values|_1.
    /// Begins at the given values and ends, for each output, when the sum is at most `tolerance` of itself above its least
    /// value by the duality gap, or when `sweeps_per_look` sweeps lower it by less than a hundredth of that. The sum never
    /// rises. Leaves whose rows have no weight keep their values.
    void solve(std::span<const double> targets, std::size_t n_outputs, std::span<double> values, double tolerance) const;

    static constexpr std::size_t sweeps_per_look = 20;

  private:
    LeafDesign design_;
    double l1_;
    std::size_t n_threads_;
    std::vector<double> diagonal_;            ///< weight of the rows in each leaf
    std::vector<std::uint32_t> weighty_;      ///< leaves with weight, tree by tree
    std::vector<std::size_t> first_of_tree_;  ///< where the leaves of each tree begin in `weighty_`, and the end
    std::vector<double> gram_;                ///< normal matrix; empty if too large
};

}  // namespace spinney
