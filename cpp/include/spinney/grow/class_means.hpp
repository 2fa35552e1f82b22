#pragma once
/// Means of the classes of a node, and the two that lie farthest apart: where Ho's splits begin.

#include <cstddef>
#include <vector>

#include "spinney/grow/split_rule.hpp"

namespace spinney {

/// Means of the classes that are present, over raw features, and two of them.
struct ClassMeans {
    std::vector<std::size_t> labels;         ///< classes that are present, ascending
    std::vector<std::vector<double>> means;  ///< one a present class, as long as a row
    std::size_t first = 0, second = 0;       ///< numbers of the farthest pair among them
    double squared_distance = 0.0;           ///< of the pair, in scaled space
};

/// Classes of the rows; real targets are parted at their mean into two.
template <Design D>
[[nodiscard]] std::vector<std::size_t> labels_of(const GrowSite<D>& site);

template <Design D>
[[nodiscard]] ClassMeans class_means(const GrowSite<D>& site, std::span<const std::size_t> labels);

/// Squared distance of two points over raw features, in scaled space.
template <Design D>
[[nodiscard]] double squared_distance(const GrowSite<D>& site, std::span<const double> a, std::span<const double> b);

/// The split across the line between the farthest means; empty if they meet.
template <Design D>
[[nodiscard]] Hyperplane central_axis(const GrowSite<D>& site, std::span<const std::size_t> labels, const ClassMeans& means,
                                      std::size_t n_steps);

}  // namespace spinney
