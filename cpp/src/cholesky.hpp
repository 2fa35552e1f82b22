#pragma once
/// Cholesky factors of symmetric matrices, in place: of full rows the lower triangle is read, and L of L L' written. Then
/// L L' x = b is solved by L, and by L' after it.

#include <algorithm>
#include <cstddef>
#include <span>

#include "spinney/parallel.hpp"

namespace spinney {

/// `rest(value, x, y, n)` is value - x . y over n entries, added up in the order that the caller has promised the bits of.
/// `root(i, pivot)` makes the diagonal entry of a pivot; false if there is none, which ends the work.
template <class Rest, class Root>
[[nodiscard]] bool factor_cholesky(std::span<double> matrix, std::size_t size, const Rest& rest, const Root& root) {
    constexpr std::size_t rows_per_panel = 16;
    const auto row_of = [&](std::size_t i) { return matrix.data() + i * size; };
    const auto eliminate = [&](std::size_t i, std::size_t j) {
        row_of(i)[j] = rest(row_of(i)[j], row_of(i), row_of(j), j) / row_of(j)[j];
    };
    // A few rows at a time, so that each row above is read from memory once for all of them.
    for (std::size_t begin = 0; begin < size; begin += rows_per_panel) {
        const std::size_t end = std::min(size, begin + rows_per_panel);
        for (std::size_t j = 0; j < begin; ++j) {
            check_stop_at(j);
            for (std::size_t i = begin; i < end; ++i) eliminate(i, j);
        }
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t j = begin; j < i; ++j) eliminate(i, j);
            double* row = row_of(i);
            row[i] = rest(row[i], row, row, i);
            if (!root(i, row[i])) return false;
        }
    }
    return true;
}

/// Solves L x = values in place, for `n_outputs` right sides side by side.
inline void substitute_lower(std::span<const double> factor, std::size_t n_outputs, std::span<double> values) {
    const std::size_t size = values.size() / n_outputs;
    for (std::size_t i = 0; i < size; ++i) {
        check_stop_after(i);
        const double* row = factor.data() + i * size;
        double* mine = values.data() + i * n_outputs;
        for (std::size_t j = 0; j < i; ++j)
            for (std::size_t k = 0; k < n_outputs; ++k) mine[k] -= row[j] * values[j * n_outputs + k];
        for (std::size_t k = 0; k < n_outputs; ++k) mine[k] /= row[i];
    }
}

/// Solves L' x = values in place, for `n_outputs` right sides side by side. Each x is taken off all above it at once, since a
/// large L is best read by rows: terms are taken off from the last to the first.
inline void substitute_upper(std::span<const double> factor, std::size_t n_outputs, std::span<double> values) {
    const std::size_t size = values.size() / n_outputs;
    for (std::size_t i = size; i-- > 0;) {
        check_stop_after(i);
        const double* row = factor.data() + i * size;
        double* mine = values.data() + i * n_outputs;
        for (std::size_t k = 0; k < n_outputs; ++k) mine[k] /= row[i];
        for (std::size_t j = 0; j < i; ++j)
            for (std::size_t k = 0; k < n_outputs; ++k) values[j * n_outputs + k] -= row[j] * mine[k];
    }
}

/// The same for one right side of a small system, each x when its turn comes: terms are taken off from the first to the last.
/// Not the same bits as above, and fitted trees have been promised these.
inline void substitute_upper_in_turn(std::span<const double> factor, std::span<double> values) {
    const std::size_t size = values.size();
    for (std::size_t j = size; j-- > 0;) {
        for (std::size_t k = j + 1; k < size; ++k) values[j] -= factor[k * size + j] * values[k];
        values[j] /= factor[j * size + j];
    }
}

}  // namespace spinney
