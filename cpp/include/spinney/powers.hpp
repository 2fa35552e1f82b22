#pragma once
/// Probabilities that are powers of votes.

#include <span>

namespace spinney {

/// log(x) for a positive, normal x to about 1e-15, without calling libm: libm differs between machines.
[[nodiscard]] double log_positive(double x);

/// Votes v become (v + shift)^slope, divided by the sum over all. Every v + shift is positive.
void power_shares(std::span<double> votes, double shift, double slope);

}  // namespace spinney
