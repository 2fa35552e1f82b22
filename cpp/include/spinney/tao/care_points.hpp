#pragma once
/// The reduced problem of a decision node ([B] "Ensembles of bagged TAO trees", section 3): which child each of its rows wants,
/// and how much.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/leaf.hpp"

namespace spinney {

/// Rows whose loss depends on where the node sends them, with the better child as label (-1 left, 1 right) and what the worse
/// one loses more as weight.
struct CarePoints {
    std::vector<std::uint32_t> rows;
    std::vector<std::int8_t> labels;
    std::vector<double> weights;

    /// Whether all want the same child; none want any.
    [[nodiscard]] bool are_one_sided() const;
};

/// The rows that reach a node, with their losses under both children; all that is indexed by rows is borrowed.
struct ReducedSet {
    std::span<const std::uint32_t> rows;
    std::size_t first_leaf, middle, end_leaf;  ///< ranks: the leaves of the right child begin at the middle
    std::span<const std::uint32_t> leaf_of;    ///< rank of the leaf each row is in
    std::span<double> loss_of, other_loss;     ///< there, and where the other child would send the row

    [[nodiscard]] bool is_right(std::uint32_t row) const { return leaf_of[row] >= middle; }
};

/// The reduced problem. Rows that lose the same on both sides are left out.
[[nodiscard]] CarePoints find_care_points(const ReducedSet& set, const Targets& targets);

/// A child that no care point wants is idle, and its leaves may predict anything at no loss. They get the class that the other
/// child loses most by: now the node has care points again, and can win these rows for the child. Without this, a node above two
/// leaves of one label would never move, and most of a deep tree would die. `care` are the care points of the set; its losses are
/// brought up to date. False if the node has no row, or loses nothing.
[[nodiscard]] bool relabel_idle_child(const ReducedSet& set, const CarePoints& care, const Targets& targets, Leaves& leaves);

}  // namespace spinney
