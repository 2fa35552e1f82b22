#pragma once
/// What a tree under optimisation knows of each row. Trees that take turns, as those of a forest that is optimised jointly,
/// share one: each brings its rows to their leaves when its turn comes.

#include <cstdint>
#include <span>
#include <vector>

#include "spinney/rows_by_leaf.hpp"

namespace spinney {

struct RowState {
    RowsByLeaf sorted;
    std::vector<std::uint32_t> leaf_of;     ///< rank of the leaf each row is in; 0 for rows of no weight
    std::vector<double> loss_of;            ///< loss of each row there
    std::vector<std::uint32_t> other_leaf;  ///< leaf a row would reach through the other child of a node
    std::vector<double> other_loss;         ///< loss of each row there
    const void* owner = nullptr;            ///< tree whose rows these are now

    explicit RowState(std::span<const double> weights)
        : sorted(weights), leaf_of(weights.size()), loss_of(weights.size()), other_leaf(weights.size()),
          other_loss(weights.size()) {}
};

}  // namespace spinney
