#pragma once
/// The best cut of one column, from its histogram.

#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/table/histogram.hpp"

namespace spinney {

/// What each side of a cut must have at least, and how far leaves are drawn to zero.
struct CutRules {
    double l2 = 0.0;
    double min_hessian = 0.0;
    std::uint64_t min_rows = 1;
};

/// Rows with code <= bin go left, missing ones where it says.
struct ColumnCut {
    double gain = 0.0;  ///< 0 if there is no cut that gains and is allowed
    std::size_t bin = 0;
    bool is_missing_left = false;
    GradientSum left;
    std::uint64_t n_left = 0;
};

/// ColumnCut with the largest gain G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2), twice what the loss falls by to
/// second order. Of equal ones that of the lowest bin, and there the one with missing rows on the right. A column that has no
/// missing rows here sends them to the side of more rows, the left one if both have as many. `bins` and `counts` are those of one
/// column, missing last. Each side has rows and a hessian above 0.
[[nodiscard]] ColumnCut best_cut(std::span<const GradientSum> bins, std::span<const std::uint32_t> counts, const CutRules& rules);

}  // namespace spinney
