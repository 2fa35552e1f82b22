#pragma once
/// Coordinate descent on a quadratic model.

#include <algorithm>

#include "simd/vectors.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

double descend(const QuadraticModel& model) {
    const QuadraticModel m = model;  // a copy: the compiler cannot tell that no store changes the model itself
    double largest = 0.0;
    for (std::size_t j = 0; j < m.n_features; ++j) {
        const double moved = m.w[j] - m.gradient[j] * m.inverse[j];
        // Soft thresholding: v - clamp(v, -t, t).
        const double next = moved - std::min(std::max(moved, -m.threshold[j]), m.threshold[j]);
        const double step = next - m.w[j];
        if (step == 0.0) continue;
        m.w[j] = next;
        const double* column = m.hessian + j * m.stride;
        for (std::size_t i = 0; i < m.stride; i += double_lanes)
            store(m.gradient + i, load<Doubles>(m.gradient + i) + step * load<Doubles>(column + i));
        largest = std::max(largest, step * step * m.curvature[j]);
    }
    return largest;
}

}  // namespace
}  // namespace spinney::simd
