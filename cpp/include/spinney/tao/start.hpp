#pragma once
/// The first hyperplane of a split, before anything is optimised: "random parameters at each node" (bagged-tao section 5.1.2), or
/// ones that look at the rows, which is a departure (docs/algorithms/tao.md).

#include <cstdint>
#include <span>

#include "spinney/leaf.hpp"
#include "spinney/random.hpp"
#include "spinney/scaling.hpp"

namespace spinney {

enum class StartKind : std::uint8_t {
    random,      ///< direction and bias normal in standardised space
    balanced,    ///< direction alike, bias with half of the weight on each side
    supervised,  ///< halfway between the means of two random groups of classes, or of rows with large and small targets
};

struct Start {
    StartKind kind = StartKind::supervised;
    double length = 1.0;   ///< deviation of the weights in standardised space
    bool is_axis = false;  ///< each split reads one column
};

/// What a split knows when it is drawn: the rows that reach it and the columns it may read.
template <Design D>
struct StartSite {
    const D& rows;
    const Scaling& scaling;
    const Targets& targets;
    std::span<const std::uint32_t> reach;
    std::span<const std::uint32_t> columns;
};

/// Draws a hyperplane over raw features into `w`, which is all zero, and `bias`. Where rows are of one class, a supervised
/// start lies between two of them; where they are alike altogether, or have one real target, it is balanced. An
/// axis-aligned split reads one random column, or the one in which two groups are farthest apart.
template <Design D>
void draw_hyperplane(const StartSite<D>& site, const Start& start, Random& random, std::span<float> w, double& bias);

}  // namespace spinney
