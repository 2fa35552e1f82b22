#pragma once
/// Random trees for the tests.

#include <cstdint>
#include <span>
#include <vector>

#include "spinney/random.hpp"
#include "spinney/simd.hpp"
#include "spinney/tree.hpp"

namespace spinney::test {

using Ints = std::vector<std::int32_t>;

/// A complete tree with a share of the weights set, and the plain way through it.
struct RandomTree {
    Ints left, right, indices;
    std::vector<double> bias;
    std::vector<std::int64_t> indptr{0};
    std::vector<float> weights;
    std::size_t n_features;

    RandomTree(std::size_t depth, std::size_t d, double density) : n_features(d) {
        Random random(depth, d);
        const std::int32_t n_splits = (1 << depth) - 1;
        for (std::int32_t node = 0; node < 2 * n_splits + 1; ++node) {
            left.push_back(node < n_splits ? 2 * node + 1 : -1);
            right.push_back(node < n_splits ? 2 * node + 2 : -1);
            bias.push_back(node < n_splits ? random.normal() : 0.0);
            for (std::size_t j = 0; j < d && node < n_splits; ++j)
                if (random.uniform() < density) {
                    indices.push_back(static_cast<std::int32_t>(j));
                    weights.push_back(static_cast<float>(random.normal()));
                }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
    }
    [[nodiscard]] TreeView view() const { return {left, right, bias, indptr, indices, weights, n_features}; }

    [[nodiscard]] std::int32_t leaf(std::span<const float> x) const {
        std::size_t node = 0;
        while (left[node] >= 0) {
            std::vector<float> w(n_features);
            for (auto k = static_cast<std::size_t>(indptr[node]); k < static_cast<std::size_t>(indptr[node + 1]); ++k)
                w[static_cast<std::size_t>(indices[k])] = weights[k];
            node = static_cast<std::size_t>(dot(x, w.data()) + bias[node] >= 0.0 ? right[node] : left[node]);
        }
        return static_cast<std::int32_t>(node);
    }
};

}  // namespace spinney::test
