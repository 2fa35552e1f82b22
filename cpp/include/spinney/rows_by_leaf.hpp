#pragma once
/// The rows of a tree, sorted by the leaf they are in, block after block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"
#include "spinney/tree.hpp"

namespace spinney {

class RowsByLeaf;

/// The rows below a node, its reduced set (bagged-tao section 3): in each block they lie side by side.
class ReachedRows {
  public:
    ReachedRows(const RowsByLeaf& sorted, std::size_t first_leaf, std::size_t end_leaf)
        : sorted_(&sorted), first_(first_leaf), end_(end_leaf) {}

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool is_empty() const { return size() == 0; }
    [[nodiscard]] std::size_t n_blocks() const;
    [[nodiscard]] std::span<const std::uint32_t> of_block(std::size_t block) const;
    /// visit(row) block after block.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::size_t block = 0; block < n_blocks(); ++block) {
            const auto rows = of_block(block);
            check_stop_after(rows.size());
            for (std::uint32_t row : rows) visit(row);
        }
    }
    /// All of them in one piece: where they lie, if there is one block, else copied.
    [[nodiscard]] std::span<const std::uint32_t> joined(std::vector<std::uint32_t>& copy) const;

  private:
    const RowsByLeaf* sorted_;
    std::size_t first_, end_;
};

/// Rows of positive weight. In each block they are ordered by the rank of their leaf; leaves are ranked from left to right, so
/// that sets of nodes of one depth are disjoint pieces. Rows of a leaf stay in their order, and sums over them have the same
/// bits.
class RowsByLeaf {
  public:
    explicit RowsByLeaf(std::span<const double> weights) {
        for (std::size_t n = 0; n < weights.size(); ++n) {
            if (n % table_block == 0) block_begin_.push_back(members_.size());
            if (weights[n] > 0.0) members_.push_back(static_cast<std::uint32_t>(n));
        }
        block_begin_.push_back(members_.size());
        order_.resize(members_.size());
    }

    /// Counting sort of each block by rank_of(row).
    template <class RankOf>
    void sort(std::size_t n_leaves, const RankOf& rank_of, std::size_t n_threads) {
        stride_ = n_leaves + 1;
        leaf_begin_.assign(n_blocks() * stride_, 0);
        parallel_for(n_blocks(), n_threads, [&](std::size_t block) { sort_block(block, rank_of); });
    }

    [[nodiscard]] std::size_t n_blocks() const { return block_begin_.size() - 1; }
    /// All of them, ascending.
    [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }
    /// All of them, leaf by leaf in each block.
    [[nodiscard]] std::span<const std::uint32_t> in_order() const { return order_; }
    [[nodiscard]] std::span<const std::uint32_t> members_of(std::size_t block) const {
        return std::span(members_).subspan(block_begin_[block], block_begin_[block + 1] - block_begin_[block]);
    }
    [[nodiscard]] ReachedRows in_leaf(std::size_t rank) const { return {*this, rank, rank + 1}; }
    [[nodiscard]] ReachedRows below(const Topology& topology, std::size_t node) const {
        return {*this, topology.first_leaf[node], topology.end_leaf[node]};
    }
    [[nodiscard]] std::span<const std::uint32_t> of_block(std::size_t block, std::size_t first_leaf, std::size_t end_leaf) const {
        const std::uint32_t* begin = leaf_begin_.data() + block * stride_;
        return std::span(order_).subspan(block_begin_[block] + begin[first_leaf], begin[end_leaf] - begin[first_leaf]);
    }

  private:
    template <class RankOf>
    void sort_block(std::size_t block, const RankOf& rank_of) {
        const auto rows = members_of(block);
        const std::span<std::uint32_t> begin = std::span(leaf_begin_).subspan(block * stride_, stride_);
        for (std::uint32_t row : rows) ++begin[rank_of(row)];
        std::uint32_t sum = 0;
        for (std::uint32_t& place : begin) {
            sum += place;
            place = sum;  // end of the leaf, until its rows are placed from the last on
        }
        std::uint32_t* out = order_.data() + block_begin_[block];
        for (std::size_t i = rows.size(); i-- > 0;) out[--begin[rank_of(rows[i])]] = rows[i];
        check_stop_after(rows.size());
    }

    std::size_t stride_ = 1;
    std::vector<std::uint32_t> members_, order_;
    std::vector<std::size_t> block_begin_;   ///< place of the first member of each block
    std::vector<std::uint32_t> leaf_begin_;  ///< of each block and leaf, counted from the first row of the block
};

inline std::size_t ReachedRows::n_blocks() const { return sorted_->n_blocks(); }
inline std::span<const std::uint32_t> ReachedRows::of_block(std::size_t block) const {
    return sorted_->of_block(block, first_, end_);
}
inline std::size_t ReachedRows::size() const {
    std::size_t count = 0;
    for (std::size_t block = 0; block < n_blocks(); ++block) count += of_block(block).size();
    return count;
}
inline std::span<const std::uint32_t> ReachedRows::joined(std::vector<std::uint32_t>& copy) const {
    if (n_blocks() == 1) return of_block(0);
    copy.clear();
    for (std::size_t block = 0; block < n_blocks(); ++block) {
        const auto rows = of_block(block);
        copy.insert(copy.end(), rows.begin(), rows.end());
    }
    return copy;
}

}  // namespace spinney
