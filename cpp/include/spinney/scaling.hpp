#pragma once
/// Column statistics, and the scaling under which hyperplanes are penalised and solved.

#include <cstddef>
#include <span>
#include <vector>

#include "spinney/design.hpp"

namespace spinney {

struct Moments {
    std::vector<double> mean, deviation;
    std::vector<float> low, high;
};

/// Weighted mean, standard deviation and range of each column, summed in row-block order.
template <Design D>
[[nodiscard]] Moments column_moments(const D& rows, std::span<const double> weights, std::size_t n_threads);

/// z_j = (x_j - mean_j) * inverse_scale_j. Stored hyperplanes act on raw x; the solvers and the
/// penalty see z. A constant column has inverse scale 0 and so never gets a weight. Raw hyperplanes may be padded as rows are.
class Scaling {
  public:
    /// No deviations means that each column deviates by its scale.
    Scaling(std::vector<double> mean, std::vector<double> inverse_scale, std::vector<double> deviation = {});

    std::vector<double> mean, inverse_scale, deviation;
    std::vector<float> mean32, metric32;  ///< for the streaming solver, padded; metric = inverse_scale^2

    /// |w|_1 of the raw hyperplane w (phi of bagged-tao eq. (1)), measured in standardised space. A given tree may have weights
    /// on columns that are constant here: they only shift the bias, and cost nothing.
    [[nodiscard]] double l1_norm(std::span<const float> w) const;

    /// Keeps the `count` weights of a raw hyperplane that move its score most, weight times deviation of the column, and
    /// drops the others, as if their columns were at their means.
    void keep_largest(std::size_t count, std::span<float> w, double& bias) const;

    /// Standardised weights and bias of a raw hyperplane.
    void to_standard(std::span<const float> raw, double raw_bias, std::span<double> w, double& bias) const;
    /// Raw weights (rounded to float) and the bias that belongs to the rounded weights.
    void to_raw(std::span<const double> w, double bias, std::span<float> raw, double& raw_bias) const;
};

/// Standardised row n into z (length >= n_features; only the first n_features are written).
template <DenseDesign D>
void standard_row(const D& rows, std::size_t n, const Scaling& scaling, double* z) {
    row_kernels<typename D::Value>().standardise(rows.row(n), scaling.mean.data(), scaling.inverse_scale.data(), z);
}
template <SparseDesign D>
void standard_row(const D& rows, std::size_t n, const Scaling& scaling, double* z) {
    for (std::size_t j = 0; j < rows.n_features; ++j) z[j] = -scaling.mean[j] * scaling.inverse_scale[j];
    rows.for_each(n,
                  [&](std::size_t j, float x) { z[j] = (static_cast<double>(x) - scaling.mean[j]) * scaling.inverse_scale[j]; });
}

/// Squared length of each standardised row, which sets the step of the streaming solver.
template <Design D>
[[nodiscard]] std::vector<float> squared_norms(const D& rows, const Scaling& scaling, std::size_t n_threads);

}  // namespace spinney
