#pragma once
/// A forest with fixed splits as a linear model of its leaves (fao eqs. (5), (6)): a row n has a one, the phi_tj(x_n) of the
/// paper, for each leaf it reaches. The design is never written out; all that solvers need are sums over leaves and over rows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

/// Which leaf each row reaches in each tree; borrowed. Leaves are numbered through all trees.
struct LeafDesign {
    std::span<const std::uint32_t> leaves;  ///< n_trees x n_rows
    std::span<const double> weights;        ///< one a row
    std::size_t n_trees = 0, n_leaves = 0;
    [[nodiscard]] std::size_t n_rows() const { return weights.size(); }
    [[nodiscard]] std::span<const std::uint32_t> tree(std::size_t t) const { return leaves.subspan(t * n_rows(), n_rows()); }
};

/// `first` plus the weight of the rows in each leaf.
[[nodiscard]] std::vector<double> leaf_weights(const LeafDesign& design, double first = 0.0);

/// Weighted sums of the rows of each leaf: A' W v, (n_leaves x n_outputs).
void collect(const LeafDesign& design, std::span<const double> row_values, std::size_t n_outputs, std::span<double> leaf_sums,
             std::size_t n_threads);

/// F(x_n), the sum of the values of the leaves of each row (fao section 4, eq. (5) in each tree): A v, (n_rows x n_outputs),
/// trees in order.
void add_up(const LeafDesign& design, std::span<const double> values, std::size_t n_outputs, std::span<double> sums,
            std::size_t n_threads);

/// Weight of the rows that two leaves share, A' W A, below the diagonal if the leaves of earlier trees have smaller
/// numbers; the diagonal is left 0. (n_leaves x n_leaves).
[[nodiscard]] std::vector<double> shared_weights(const LeafDesign& design, std::size_t n_threads);

}  // namespace spinney
