#pragma once
/// A forest with all that it needs to answer: what its trees say, what that counts, and what is added.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/forest.hpp"

namespace spinney {

/// What a tree adds for a row: a vote for its label, the outputs of its leaf, or the same with the scores of
/// linear leaves turned into probabilities.
enum class Says : std::uint8_t { label, outputs, probabilities };

class Readout {
  public:
    /// Borrows the forest. Throws std::invalid_argument unless there is one weight a tree and one offset an output.
    Readout(const Forest& forest, Says says, std::vector<double> tree_weights, std::vector<double> offsets);

    [[nodiscard]] std::size_t n_features() const { return forest_->n_features(); }
    [[nodiscard]] std::size_t n_outputs() const { return forest_->n_outputs(); }
    [[nodiscard]] std::size_t n_trees() const { return forest_->n_trees(); }

    /// What the trees give each row together, n_outputs a row.
    void totals(const DenseRows& rows, std::size_t n_threads, std::span<double> out) const;

    /// Output with the largest total of each row, the first of equals.
    void largest(const DenseRows& rows, std::size_t n_threads, std::span<std::int32_t> out) const;

  private:
    const Forest* forest_;
    Says says_;
    std::vector<double> tree_weights_, offsets_;
};

}  // namespace spinney
