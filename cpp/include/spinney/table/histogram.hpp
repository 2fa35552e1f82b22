#pragma once
/// Sums over the rows of a node, one for each bin of each column.
///
/// The rows of a block are summed by themselves, and these sums are added in the order of the blocks: the bits depend neither on
/// the number of threads nor on where a block lies. Sums are in double: in float they take 6 to 10 % less time.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spinney/table/codes.hpp"

namespace spinney {

/// First and second derivative of the loss of a row.
struct GradientPair {
    float gradient, hessian;
};
/// Sums of such pairs.
struct GradientSum {
    double gradient = 0.0, hessian = 0.0;
    GradientSum& operator+=(const GradientSum& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        return *this;
    }
    GradientSum& operator-=(const GradientSum& other) {
        gradient -= other.gradient;
        hessian -= other.hessian;
        return *this;
    }
    bool operator==(const GradientSum&) const = default;
};

/// Where the bins of each column lie in a histogram: begin[j] .. begin[j + 1], the last of them for missing values.
[[nodiscard]] std::vector<std::size_t> histogram_begin(const Codes& codes);

/// Weight of the rows that want to go to each side of a split.
struct Pull {
    double left = 0.0, right = 0.0;
    Pull& operator+=(const Pull& other) {
        left += other.left;
        right += other.right;
        return *this;
    }
    [[nodiscard]] bool is_empty() const { return left == 0.0 && right == 0.0; }
    bool operator==(const Pull&) const = default;
};

/// Numbers of the rows of a node, ascending; nothing stands for all rows.
using NodeRows = std::optional<std::span<const std::uint32_t>>;

/// Throws unless the numbers ascend and are below n_rows.
void check_node_rows(const NodeRows& rows, std::size_t n_rows);

/// Sum of the pairs of the rows in each bin. `pairs` has one for each row of the table.
[[nodiscard]] std::vector<GradientSum> gradient_histogram(const Codes& codes, std::span<const GradientPair> pairs,
                                                          const NodeRows& rows, std::size_t n_threads);

/// Weight of each class in each bin: bin b has the numbers b * n_classes .. (b + 1) * n_classes - 1.
[[nodiscard]] std::vector<double> label_histogram(const Codes& codes, std::span<const std::int32_t> labels,
                                                  std::span<const double> weights, std::size_t n_classes, const NodeRows& rows,
                                                  std::size_t n_threads);

/// Pull of rows in each bin of some columns (a flag each); bins of other columns stay empty. Rows are listed block after block,
/// with labels (-1 left, 1 right) and weights by their places in the list.
[[nodiscard]] std::vector<Pull> pull_histogram(const Codes& codes, std::span<const std::uint8_t> wanted,
                                               std::span<const std::uint32_t> rows, std::span<const std::int8_t> labels,
                                               std::span<const double> weights, std::size_t n_threads);

/// Number of rows in each bin. A pass of its own: counted beside gradients it would double their time.
[[nodiscard]] std::vector<std::uint32_t> count_histogram(const Codes& codes, const NodeRows& rows, std::size_t n_threads);

/// Takes the histogram of a child from that of its parent: what is left is that of its sibling. Exact for counts, for weights
/// that are whole numbers, and for pairs on a grid (below). Else each bin is off by the rounding of the two sums, which matters
/// where the sibling has next to nothing of the parent's weight in it; it may even become less than 0.
template <class T>
void subtract(std::span<T> parent, std::span<const T> child) {
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] -= child[i];
}

/// Rounds all gradients to multiples of one power of 2, hessians likewise, as fine as sums of all rows in double stay exact: to
/// 24 bits of the largest of them up to 2^29 rows. All sums are then exact, in any order: a histogram is bit for bit the sum of
/// its children's. Throws if a number is not finite.
void round_to_grid(std::span<GradientPair> pairs);

}  // namespace spinney
