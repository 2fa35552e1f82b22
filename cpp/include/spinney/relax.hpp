#pragma once
/// Linear models refitted on the features they use, without the l1 penalty that chose these features:
///   min  sum_n c_n link_n(w.z_n + b) + ridge/2 |w|^2   over b, and over w that is zero where it was zero.
/// The penalty makes weights sparse, but also short. The "relaxed" fit keeps the first and undoes the second
/// (Meinshausen, "Relaxed Lasso", 2007).

#include <cstddef>
#include <span>

#include "spinney/solve_linear.hpp"

namespace spinney {

struct RelaxOptions {
    double ridge = 0.0;
    std::size_t max_steps = 100;
    double tolerance = 1e-6;  ///< stop when a step lowers the objective by less than this share
};

/// By L-BFGS over all outputs at once. `w` holds one raw hyperplane an output, `bias` one number; both are start and
/// result. The objective never rises. Rows are read block by block, so memory does not grow with their number.
template <Design D, class Link>
void relax(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link, const RelaxOptions& options,
           std::span<float> w, std::span<double> bias);

}  // namespace spinney
