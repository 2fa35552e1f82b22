#pragma once
/// All leaves of a forest at once, with a squared penalty on their values.

#include <cstddef>
#include <span>
#include <vector>

#include "spinney/leaf_design.hpp"

namespace spinney {

/// When conjugate gradients end: in each output at the larger of two gradients, where each leaf's slope is measured in units of
/// the weight of its rows.
struct StopRule {
    double of_zero = 0.0;   ///< share of the gradient of leaves that are all zero: the same end from any start
    double of_start = 0.0;  ///< share of the gradient at the start
    std::size_t max_iterations = 1000;
};

/// Ridge regression on the leaves, for as many targets as one likes. The design has a one for each tree in each row;
/// it is never written out. Small systems are factored once, large ones solved by conjugate gradients.
class LeafSystem {
  public:
    /// `l2` is the weight of the squared leaf values against the weighted sum of squares; it has to be positive.
    /// A system of at most `direct_limit` leaves is factored.
    LeafSystem(const LeafDesign& design, double l2, std::size_t direct_limit, std::size_t n_threads);

    /// argmin over `values` (n_leaves x n_outputs) of sum_n w_n |target_n - values of its leaves|^2 + l2 |values|^2.
    /// Conjugate gradients begin at the given values; the sum never rises.
    void solve(std::span<const double> targets, std::size_t n_outputs, std::span<double> values, const StopRule& rule) const;

  private:
    void factor();
    [[nodiscard]] std::vector<double> gradient_sizes(std::span<const double> gradient, std::size_t n_outputs) const;
    void iterate(std::span<double> rows, std::span<double> residual, std::span<const double> enough, std::span<double> values,
                 std::size_t max_iterations) const;

    LeafDesign design_;
    double l2_;
    std::size_t n_threads_;
    std::vector<double> diagonal_;  ///< weight of the rows in each leaf + l2
    std::vector<double> factor_;    ///< lower Cholesky factor of the normal matrix, full rows; empty if too large
};

}  // namespace spinney
