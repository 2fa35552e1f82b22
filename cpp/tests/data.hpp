#pragma once
/// Random matrices and labels for the tests.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "spinney/padded_rows.hpp"
#include "spinney/random.hpp"
#include "spinney/scaling.hpp"

namespace spinney::test {

/// A matrix held both ways; the views borrow from it.
struct Matrix {
    std::vector<float> values;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> entries;
    std::size_t n_rows, n_features;

    Matrix(std::vector<float> all, std::size_t n, std::size_t d) : values(std::move(all)), n_rows(n), n_features(d) {
        for (std::size_t row = 0; row < n; ++row) {
            for (std::size_t j = 0; j < d; ++j) {
                if (values[row * d + j] == 0.0F) continue;
                indices.push_back(static_cast<std::int32_t>(j));
                entries.push_back(values[row * d + j]);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
    }
    [[nodiscard]] DenseRows dense() const { return {values.data(), n_rows, n_features}; }
    [[nodiscard]] SparseRows sparse() const { return {indptr.data(), indices.data(), entries.data(), n_rows, n_features}; }
};

/// The same rows, each with zeros behind it.
inline PaddedRows<float> padded(const Matrix& x) {
    return {x.n_rows, x.n_features, [&](std::size_t n, float* out) { std::ranges::copy(x.dense().row(n), out); }};
}

/// Rows that are read beyond their ends, with the last of them from `last`, which are padded rows of the same matrix.
inline DenseRows overlapping(const Matrix& x, const PaddedRows<float>& last) {
    const std::size_t width = padded_size(x.n_features);
    const std::size_t n_copied = std::min(x.n_rows, (width - x.n_features + x.n_features - 1) / x.n_features);
    const std::size_t n_in_place = x.n_rows - n_copied;
    return {x.values.data(), x.n_rows, x.n_features, x.n_features, width, last.view().begin(n_in_place), n_in_place};
}

/// Rows of d entries as rows of `width`, with zeros behind them.
template <class T>
std::vector<T> widened(std::span<const T> values, std::size_t d, std::size_t width) {
    std::vector<T> out(values.size() / d * width);
    for (std::size_t n = 0; n < values.size() / d; ++n)
        std::ranges::copy(values.subspan(n * d, d), out.begin() + static_cast<std::ptrdiff_t>(n * width));
    return out;
}

/// Normal entries, each zero with probability 1 - density; columns differ in scale and centre.
inline Matrix random_matrix(std::size_t n, std::size_t d, double density, std::uint64_t seed) {
    Random random(seed, 1);
    std::vector<float> values(n * d);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double spread = 1.0 + static_cast<double>(i % d % 5);
        const double value = 0.5 * spread + spread * random.normal();
        if (random.uniform() < density) values[i] = static_cast<float>(value);
    }
    return {std::move(values), n, d};
}

/// Rows with few distinct values, so that ties are common.
inline Matrix tied_matrix(std::size_t n, std::size_t d, std::uint64_t seed) {
    Random random(seed, 2);
    std::vector<float> values(n * d);
    for (float& value : values) value = static_cast<float>(random.below(5)) - 2.0F;
    return {std::move(values), n, d};
}

/// Labels of a noisy hyperplane.
inline std::vector<std::int8_t> random_labels(const Matrix& x, std::uint64_t seed) {
    Random random(seed, 3);
    std::vector<double> w(x.n_features);
    for (double& weight : w) weight = random.normal();
    std::vector<std::int8_t> labels(x.n_rows);
    for (std::size_t n = 0; n < x.n_rows; ++n) {
        double score = 2.0 * random.normal();
        for (std::size_t j = 0; j < x.n_features; ++j) score += w[j] * static_cast<double>(x.values[n * x.n_features + j]);
        labels[n] = score > 0.0 ? 1 : -1;
    }
    return labels;
}

inline std::vector<double> random_weights(std::size_t n, std::uint64_t seed) {
    Random random(seed, 4);
    std::vector<double> weights(n);
    for (double& weight : weights) weight = 0.2 + 2.0 * random.uniform();
    return weights;
}

inline std::vector<std::uint32_t> all_rows(std::size_t n) {
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0U);
    return rows;
}

/// Scaling by the columns' own deviation; about their mean, or about zero.
inline Scaling scaling_of(const Matrix& x, std::span<const double> weights, bool is_centred) {
    Moments moments = column_moments(x.dense(), weights, 1);
    std::vector<double> inverse(x.n_features);
    for (std::size_t j = 0; j < x.n_features; ++j) inverse[j] = moments.deviation[j] > 0.0 ? 1.0 / moments.deviation[j] : 0.0;
    if (!is_centred) moments.mean.assign(x.n_features, 0.0);
    return {std::move(moments.mean), std::move(inverse)};
}

}  // namespace spinney::test
