#pragma once
/// One axis-aligned split from one reduced problem, exact by enumeration of all thresholds (fao section 3).

#include <cstdint>
#include <span>

#include "spinney/design.hpp"

namespace spinney {

/// Care points of one node: row numbers, pseudo-labels (+1 right, -1 left) and weights.
struct ReducedProblem {
    std::span<const std::uint32_t> rows;
    std::span<const std::int8_t> labels;
    std::span<const double> weights;
};

/// `feature` is -1 for the constant split (no feature used); `sign` is the single weight, +1 or -1.
struct AxisSplit {
    std::int32_t feature = -1;
    float sign = 0.0F;
    double bias = 0.0;
    double cost = 0.0;  ///< weighted 0/1 loss, plus alpha if a feature is used
};

/// The split of least cost; the constant split wins ties, then the lower feature and threshold.
template <Design D>
[[nodiscard]] AxisSplit solve_axis(const D& rows, const ReducedProblem& problem, double alpha);

}  // namespace spinney
