#pragma once
/// How the columns of one hyperplane vary with the targets of its rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "node_sums.hpp"
#include "spinney/design.hpp"
#include "spinney/parallel.hpp"

namespace spinney {

/// How far ahead rows are asked for: they are far apart in memory.
inline constexpr std::size_t rows_ahead = 16;

/// A hyperplane with the rows it is judged on and the direction of the targets that it is to explain.
struct Judged {
    std::size_t node;
    std::span<const std::uint32_t> rows;
    std::span<const std::int32_t> columns;
    std::span<const float> weights;
    std::vector<double> direction;
};

/// Moments of the columns of a hyperplane over its rows.
struct ColumnMoments {
    std::vector<double> covariance, variance;  ///< with the targets, of each column
    double target_variance = 0.0;
};

/// Calls visit(entry, x) for the columns of a hyperplane that row n holds.
template <DenseDesign D, class Visit>
void visit_entries(const D& rows, std::size_t n, const Judged& judged, std::span<const std::int32_t>, Visit&& visit) {
    const auto x = rows.row(n);
    for (std::size_t e = 0; e < judged.columns.size(); ++e)
        visit(e, static_cast<double>(x[static_cast<std::size_t>(judged.columns[e])]));
}
template <SparseDesign D, class Visit>
void visit_entries(const D& rows, std::size_t n, const Judged&, std::span<const std::int32_t> entry_of_column, Visit&& visit) {
    rows.for_each(n, [&](std::size_t j, float x) {
        if (entry_of_column[j] >= 0) visit(static_cast<std::size_t>(entry_of_column[j]), static_cast<double>(x));
    });
}

/// Targets along the direction, about their mean, row by row.
inline std::vector<double> targets_along(const Judged& judged, const NodeSums& sums, const GainTask& task) {
    double mean = 0.0;
    for (std::size_t k = 0; k < task.n_outputs; ++k) mean += judged.direction[k] * sums.mean(judged.node, k);
    std::vector<double> z(judged.rows.size(), -mean);
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        const std::size_t n = judged.rows[i];
        if (!task.classes.empty()) {
            z[i] += judged.direction[static_cast<std::size_t>(task.classes[n])];
            continue;
        }
        for (std::size_t k = 0; k < task.n_outputs; ++k) z[i] += judged.direction[k] * task.values[n * task.n_outputs + k];
    }
    return z;
}

/// Sums of values, their squares and their products with the targets, column by column.
struct ColumnSums {
    std::vector<double> values, squares, products;
    explicit ColumnSums(std::size_t size) : values(size), squares(size), products(size) {}

    /// A row of all columns: plain arrays, which the compiler adds several at a time.
    void add(const double* __restrict x, double w, double wz) {
        double* __restrict value = values.data();
        double* __restrict square = squares.data();
        double* __restrict product = products.data();
        const std::size_t size = values.size();
        for (std::size_t e = 0; e < size; ++e) {
            const double wx = w * x[e];
            value[e] += wx;
            square[e] += wx * x[e];
            product[e] += wz * x[e];
        }
    }
    void add(std::size_t e, double x, double w, double wz) {
        values[e] += w * x;
        squares[e] += w * x * x;
        products[e] += wz * x;
    }
};

/// Dense values are measured from those of one row, or squares would cancel far from 0.
template <DenseDesign D>
void sum_columns(const D& rows, const Judged& judged, std::span<const double> z, const GainTask& task,
                 std::span<const std::int32_t>, ColumnSums& sums) {
    const std::size_t size = judged.columns.size();
    std::vector<double> origin(size), x(size);
    for (std::size_t e = 0; e < size; ++e)
        origin[e] = static_cast<double>(rows.row(judged.rows[0])[static_cast<std::size_t>(judged.columns[e])]);
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        rows.prefetch(judged.rows[std::min(i + rows_ahead, z.size() - 1)]);
        const auto* values = rows.row(judged.rows[i]).data();
        for (std::size_t e = 0; e < size; ++e)
            x[e] = static_cast<double>(values[static_cast<std::size_t>(judged.columns[e])]) - origin[e];
        const double w = task.weights[judged.rows[i]];
        sums.add(x.data(), w, w * z[i]);
    }
}
template <SparseDesign D>
void sum_columns(const D& rows, const Judged& judged, std::span<const double> z, const GainTask& task,
                 std::span<const std::int32_t> entry_of_column, ColumnSums& sums) {
    for (std::size_t i = 0; i < z.size(); ++i) {
        check_stop_at(i);
        const double w = task.weights[judged.rows[i]];
        visit_entries(rows, judged.rows[i], judged, entry_of_column,
                      [&](std::size_t e, double x) { sums.add(e, x, w, w * z[i]); });
    }
}

template <Design D>
ColumnMoments moments_of(const D& rows, const Judged& judged, const NodeSums& sums, const GainTask& task,
                         std::span<const std::int32_t> entry_of_column) {
    const std::size_t size = judged.columns.size();
    const double total = sums.weight[judged.node];
    const std::vector<double> z = targets_along(judged, sums, task);
    ColumnSums of_columns(size);
    sum_columns(rows, judged, z, task, entry_of_column, of_columns);
    ColumnMoments out{std::move(of_columns.products), std::move(of_columns.squares)};
    for (std::size_t e = 0; e < size; ++e) {
        const double mean = of_columns.values[e] / total;
        out.covariance[e] /= total;
        out.variance[e] = std::max(out.variance[e] / total - mean * mean, 0.0);
    }
    for (std::size_t i = 0; i < z.size(); ++i) out.target_variance += task.weights[judged.rows[i]] / total * z[i] * z[i];
    return out;
}

/// Variance of the score of a hyperplane over its rows.
template <Design D>
double score_variance(const D& rows, const Judged& judged, const GainTask& task, double total,
                      std::span<const std::int32_t> entry_of_column) {
    double origin = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < judged.rows.size(); ++i) {
        check_stop_at(i);
        rows.prefetch(judged.rows[std::min(i + rows_ahead, judged.rows.size() - 1)]);
        double score = -origin;
        visit_entries(rows, judged.rows[i], judged, entry_of_column,
                      [&](std::size_t e, double x) { score += static_cast<double>(judged.weights[e]) * x; });
        if (i == 0) std::swap(origin, score);
        const double w = task.weights[judged.rows[i]];
        sum += w * score;
        squares += w * score * score;
    }
    const double mean = sum / total;
    return std::max(squares / total - mean * mean, 0.0);
}

}  // namespace spinney
