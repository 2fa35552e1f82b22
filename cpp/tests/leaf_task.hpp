#pragma once
/// Regressions on the leaves of a forest, for the tests of their solvers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data.hpp"
#include "spinney/leaf_design.hpp"

namespace spinney::test {

/// Rows in random leaves of a few trees, the last of each empty, and random targets.
struct LeafTask {
    static constexpr std::size_t n_rows = 60, n_trees = 4, leaves_per_tree = 7, n_outputs = 2;
    static constexpr std::size_t n_leaves = n_trees * leaves_per_tree;
    std::vector<std::uint32_t> leaves;
    std::vector<double> weights, targets;

    explicit LeafTask(std::uint64_t seed) : weights(random_weights(n_rows, seed)), targets(n_rows * n_outputs) {
        Random random(seed);
        for (std::size_t t = 0; t < n_trees; ++t)
            for (std::size_t n = 0; n < n_rows; ++n)
                leaves.push_back(static_cast<std::uint32_t>(t * leaves_per_tree + random.below(leaves_per_tree - 1)));
        for (double& target : targets) target = random.normal();
    }
    [[nodiscard]] LeafDesign design() const { return {leaves, weights, n_trees, n_leaves, {}}; }
};

}  // namespace spinney::test
