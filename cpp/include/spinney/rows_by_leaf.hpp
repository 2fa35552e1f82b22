#pragma once
/// The rows of a tree, sorted by the leaf they are in.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "spinney/tree.hpp"

namespace spinney {

/// Rows of positive weight, ordered by the rank of their leaf. Leaves are ranked from left to right, so that the rows which
/// reach a node, its reduced set (bagged-tao section 3), lie side by side; sets of nodes of one depth are disjoint.
class RowsByLeaf {
  public:
    RowsByLeaf(std::span<const double> weights, std::size_t n_leaves) : leaf_start_(n_leaves + 1) {
        for (std::size_t n = 0; n < weights.size(); ++n)
            if (weights[n] > 0.0) members_.push_back(static_cast<std::uint32_t>(n));
        order_.resize(members_.size());
    }

    /// Counting sort by rank_of(row); within a leaf rows stay in their order, so that sums over them have the same bits.
    template <class RankOf>
    void sort(const RankOf& rank_of) {
        leaf_start_.assign(leaf_start_.size(), 0);
        for (std::uint32_t row : members_) ++leaf_start_[rank_of(row) + 1];
        std::partial_sum(leaf_start_.begin(), leaf_start_.end(), leaf_start_.begin());
        auto next = leaf_start_;
        for (std::uint32_t row : members_) order_[next[rank_of(row)]++] = row;
    }

    /// All of them, ascending.
    [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }
    /// All of them, leaf by leaf.
    [[nodiscard]] std::span<const std::uint32_t> in_order() const { return order_; }
    [[nodiscard]] std::span<const std::uint32_t> in_leaf(std::size_t rank) const { return between(rank, rank + 1); }
    [[nodiscard]] std::span<const std::uint32_t> below(const Topology& topology, std::size_t node) const {
        return between(topology.first_leaf[node], topology.end_leaf[node]);
    }

  private:
    [[nodiscard]] std::span<const std::uint32_t> between(std::size_t first_leaf, std::size_t end_leaf) const {
        return std::span(order_).subspan(leaf_start_[first_leaf], leaf_start_[end_leaf] - leaf_start_[first_leaf]);
    }

    std::vector<std::uint32_t> members_, order_;
    std::vector<std::size_t> leaf_start_;
};

}  // namespace spinney
