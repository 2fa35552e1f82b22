#pragma once
/// The best single number: least value of a convex function of one variable with a penalty.

#include <algorithm>
#include <cmath>
#include <concepts>

namespace spinney {

/// x, by so much nearer to zero, or zero: argmin_v of (v - x)^2 / 2 + by |v| ("soft thresholding", fao section 3).
template <std::floating_point T>
[[nodiscard]] T soft_threshold(T x, T by) {
    return std::copysign(std::max(std::fabs(x) - by, T{0}), x);
}

/// Penalty of each number that a constant leaf holds (mu psi of fao eq. (2)): l1 |v| + l2 v^2.
struct LeafPenalty {
    double l1 = 0.0, l2 = 0.0;
    [[nodiscard]] double of(double value) const { return l1 * std::fabs(value) + l2 * value * value; }
};

/// First and second derivative of a function at a point.
struct Derivatives {
    double slope = 0.0, curvature = 0.0;
};

/// Where values are sought, and how close two of them count as one.
struct Bracket {
    double low, high, tolerance;
};

/// argmin in `bracket` of f(v) + penalty, for convex f with a continuous slope: Newton steps inside a shrinking
/// bracket, from `at`. `derivatives_at(v)` gives those of f. Of several minima the first one met is returned.
template <class F>
[[nodiscard]] double minimize_convex(const F& derivatives_at, const LeafPenalty& penalty, Bracket bracket, double at) {
    double pull = 0.0;  // slope of l1 |v| on the side of zero where the minimum lies
    if (penalty.l1 > 0.0) {
        const double slope = derivatives_at(0.0).slope;
        if (std::fabs(slope) <= penalty.l1) return 0.0;
        pull = std::copysign(penalty.l1, -slope);
        (slope > 0.0 ? bracket.high : bracket.low) = 0.0;
    }
    at = std::clamp(at, bracket.low, bracket.high);
    for (int step = 0; step < 100 && bracket.low < bracket.high; ++step) {
        auto [slope, curvature] = derivatives_at(at);
        slope += pull + 2.0 * penalty.l2 * at;
        curvature += 2.0 * penalty.l2;
        if (slope == 0.0) return at;
        (slope > 0.0 ? bracket.high : bracket.low) = at;
        const double newton = curvature > 0.0 ? at - slope / curvature : 0.5 * (bracket.low + bracket.high);
        const bool is_inside = newton >= bracket.low && newton <= bracket.high;
        const double next = is_inside ? newton : 0.5 * (bracket.low + bracket.high);
        if (std::fabs(next - at) <= 1e-14 * std::fabs(at) + bracket.tolerance) return next;
        at = next;
    }
    return at;
}

}  // namespace spinney
