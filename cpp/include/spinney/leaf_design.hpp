#pragma once
/// A forest with fixed splits as a linear model of its leaves (fao eqs. (5), (6)): a row n has a one, the phi_tj(x_n) of the
/// paper, for each leaf it reaches. The design is never written out; all that solvers need are sums over leaves and over rows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace spinney {

/// Numbers of leaves, as wide as the largest needs.
using LeafNumbers = std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>, std::span<const std::uint32_t>>;

/// Which leaf each row reaches in each tree; borrowed. Leaves are numbered through all trees; what is written down of a row is
/// the number less that of the first leaf of the tree, which may be a byte.
struct LeafDesign {
    LeafNumbers leaves;               ///< n_trees x n_rows
    std::span<const double> weights;  ///< one a row
    std::size_t n_trees = 0, n_leaves = 0;
    std::span<const std::uint32_t> first_leaf;  ///< one a tree; empty if all are 0
    [[nodiscard]] std::size_t n_rows() const { return weights.size(); }
    [[nodiscard]] std::size_t first(std::size_t t) const { return first_leaf.empty() ? 0 : first_leaf[t]; }
    /// What visit(numbers, first) gives for the rows of a tree: row n is in leaf first + numbers[n].
    template <class Visit>
    decltype(auto) visit(std::size_t t, const Visit& visit) const {
        return std::visit([&](auto all) { return visit(all.subspan(t * n_rows(), n_rows()), first(t)); }, leaves);
    }
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

/// Adds `factor` times the values of its leaf in one tree to the sums of each row (n_rows x n_outputs).
void add_values(const LeafNumbers& leaf_of, std::span<const double> values, std::size_t n_outputs, double factor,
                std::span<double> sums, std::size_t n_threads);

/// Weight of the rows that two leaves share, A' W A, below the diagonal if the leaves of earlier trees have smaller
/// numbers; the diagonal is left 0. (n_leaves x n_leaves).
[[nodiscard]] std::vector<double> shared_weights(const LeafDesign& design, std::size_t n_threads);

}  // namespace spinney
