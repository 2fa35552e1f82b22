#pragma once
/// Many finished trees, packed for prediction.
///
/// Rows pass in blocks and each tree meets a whole block, so that the tree stays in the cache. What a row
/// gets depends on the row alone and is summed in the order of the trees: the bits are the same for any
/// number of threads, any split of the rows into calls, and dense, byte or sparse rows.

#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/design.hpp"
#include "spinney/packed_trees.hpp"

namespace spinney {

class Forest {
  public:
    /// Copies the trees. Throws std::invalid_argument unless there is at least one, every tree can be walked
    /// safely, has one row of `n_outputs` values a leaf, and reads `n_features` columns.
    Forest(std::span<const ForestTree> trees, std::size_t n_features, std::size_t n_outputs)
        : packed_(trees, n_features, n_outputs) {}

    [[nodiscard]] std::size_t n_trees() const { return packed_.trees.size(); }
    [[nodiscard]] std::size_t n_features() const { return packed_.n_features; }
    [[nodiscard]] std::size_t n_outputs() const { return packed_.n_outputs; }

    /// Node number of the leaf of each row in each tree, n_trees a row.
    template <Design D>
    void apply(const D& rows, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) const;

    /// Output with the largest value (the first of equals) of each row in each tree, n_trees a row.
    template <Design D>
    void labels(const D& rows, std::size_t n_threads, std::span<std::int32_t> labels) const;

    /// Sum of the weights of the trees that give a row a label, n_outputs a row.
    template <Design D>
    void votes(const D& rows, std::span<const double> tree_weights, std::size_t n_threads, std::span<double> votes) const;

    /// Sum of the leaves' outputs times the weights of their trees, n_outputs a row. With `is_softmax` the
    /// scores of linear leaves become probabilities first.
    template <Design D>
    void sums(const D& rows, std::span<const double> tree_weights, bool is_softmax, std::size_t n_threads,
              std::span<double> sums) const;

  private:
    template <Design D, class Visit>
    void visit_leaves(const D& rows, std::size_t n_threads, const Visit& visit) const;
    template <Design D, class Visit>
    void visit_labels(const D& rows, std::size_t n_threads, const Visit& visit) const;
    template <class Block, class Visit>
    void walk_block(const Block& block, const Visit& visit) const;
    template <class Block>
    void walk_trees(const Block& block, PackedForm form, std::span<const float* const> x, std::span<std::int32_t> at) const;

    void linear_scores(const PackedTree& tree, std::size_t leaf, const float* x, std::span<double> scores) const;

    PackedTrees packed_;
};

}  // namespace spinney
