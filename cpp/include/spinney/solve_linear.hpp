#pragma once
/// Penalised linear models, the work horse of splits and of linear leaves:
///   min  sum_n c_n link_n(w.z_n + b) + alpha |w|_1 + ridge/2 |w|^2
/// over standardised rows z, with a free bias b and a warm start. Two solvers, one contract.

#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/design.hpp"
#include "spinney/link.hpp"
#include "spinney/random.hpp"
#include "spinney/scaling.hpp"

namespace spinney {

/// The entries of a problem: row numbers and positive weights.
struct WeightedRows {
    std::span<const std::uint32_t> rows;
    std::span<const double> weights;
    /// Numbers before rows were gathered; empty if `rows` are those. GCC warns of braces that leave it out if nothing is said
    /// here.
    std::span<const std::uint32_t> table_rows = {};  // NOLINT(readability-redundant-member-init)

    /// Row numbers of the table, whose blocks sums are taken over.
    [[nodiscard]] std::span<const std::uint32_t> in_table() const { return table_rows.empty() ? rows : table_rows; }
};

struct LinearOptions {
    double alpha = 0.0;
    double ridge = 0.0;
    std::size_t max_newton = 1;     ///< Newton steps
    std::size_t epochs = 1;         ///< passes of the streaming solver after its first gradient
    double step = 0.3;              ///< streaming step in units of 1 / (mean curvature of a row)
    double tolerance = 1e-3;        ///< Newton stops when the objective falls by less than this share
    std::size_t newton_limit = 64;  ///< most features for which Newton is chosen
    std::size_t max_weights = 0;    ///< most non-zero weights of the result; 0 for any number
    std::size_t n_threads = 1;
};

/// Proximal Newton: one pass over the rows a step, then coordinate descent on the (D+1)^2 model.
/// One output. `w` (raw features) and `bias` are start and result.
template <Design D, class Link>
void solve_newton(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link,
                  const LinearOptions& options, std::span<float> w, double& bias);

/// SAGA with exact start gradients: touches each row once a step, in cache. `w` holds one hyperplane
/// an output, `bias` one number; both are start and result.
template <Design D, class Link>
void solve_stream(const D& rows, const Scaling& scaling, std::span<const float> squared_norms, const WeightedRows& entries,
                  const Link& link, const LinearOptions& options, Random random, std::span<float> w, std::span<double> bias);

/// One output, by the solver that fits the number of features; then only the largest weights are kept.
template <Design D, class Link>
void solve_linear(const D& rows, const Scaling& scaling, std::span<const float> squared_norms, const WeightedRows& entries,
                  const Link& link, const LinearOptions& options, Random random, std::span<float> w, double& bias) {
    if (rows.n_features <= options.newton_limit)
        solve_newton(rows, scaling, entries, link, options, w, bias);
    else
        solve_stream(rows, scaling, squared_norms, entries, link, options, random, w, std::span(&bias, 1));
    if (options.max_weights > 0) scaling.keep_largest(options.max_weights, w, bias);
}

}  // namespace spinney
