#pragma once
/// The best column of a node by its codes. Sums over the entries of each bin give the costs of the cuts between bins, and bounds
/// on those within them (sides.hpp); only bins whose bound is low enough are looked at value by value. The cut is that of a
/// search through all values.

#include "spinney/grow/sample_codes.hpp"
#include "spinney/grow/split_rule.hpp"

namespace spinney {

/// As best_axis, for a site with codes.
template <DenseDesign D>
[[nodiscard]] Hyperplane best_coded_axis(const GrowSite<D>& site, Random& random);

}  // namespace spinney
