#include "spinney/solve_axis.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sort_key.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Columns that are read together: rows are far apart in memory, and so many floats are one cache line of a row.
constexpr std::size_t columns_at_once = 16;

/// Columns of whole numbers below this one, such as counts, bytes or encoded categories, are summed up by value
/// instead of sorted.
constexpr std::size_t n_whole = 256;

/// One column of the care points: values, and the signed weights c_n y_n of their rows.
struct Column {
    std::span<const float> values;
    std::span<const double> signed_weights;
};

/// Visits the columns of dense rows in their order.
template <DenseDesign D, class Visit>
void visit_columns(const D& rows, const ReducedProblem& problem, std::span<const double> signed_weights, double /*total*/,
                   const Visit& visit) {
    const std::size_t n_rows = problem.rows.size();
    std::vector<float> values(columns_at_once * n_rows);
    for (std::size_t first = 0; first < rows.n_features; first += columns_at_once) {
        check_stop_at(first);
        const std::size_t count = std::min(columns_at_once, rows.n_features - first);
        for (std::size_t n = 0; n < n_rows; ++n) {
            check_stop_at(n);
            const auto* x = rows.begin(problem.rows[n]) + first;
            for (std::size_t j = 0; j < count; ++j) values[j * n_rows + n] = static_cast<float>(x[j]);
        }
        for (std::size_t j = 0; j < count; ++j) visit(first + j, Column{{values.data() + j * n_rows, n_rows}, signed_weights});
    }
}

/// Visits the columns of sparse rows, transposed first; the zeros of a column are one entry, which gets what is left
/// of the total.
template <SparseDesign D, class Visit>
void visit_columns(const D& rows, const ReducedProblem& problem, std::span<const double> signed_weights, double total,
                   const Visit& visit) {
    std::vector<std::size_t> starts(rows.n_features + 1);
    for (std::size_t n = 0; n < problem.rows.size(); ++n) {
        check_stop_at(n);
        rows.for_each(problem.rows[n], [&](std::size_t j, float) { ++starts[j + 1]; });
    }
    for (std::size_t j = 0; j < rows.n_features; ++j) starts[j + 1] += starts[j] + 1;  // and one for the zeros
    std::vector<float> values(starts.back());
    std::vector<double> weights(starts.back());
    auto next = starts;
    for (std::size_t n = 0; n < problem.rows.size(); ++n) {
        check_stop_at(n);
        rows.for_each(problem.rows[n], [&](std::size_t j, float x) {
            values[next[j]] = x;
            weights[next[j]++] = signed_weights[n];
        });
    }
    for (std::size_t j = 0; j < rows.n_features; ++j) {
        const std::size_t begin = starts[j];
        std::size_t size = next[j] - begin;
        if (size < problem.rows.size()) {
            weights[begin + size] = std::accumulate(weights.data() + begin, weights.data() + begin + size, total,
                                                    [](double left, double weight) { return left - weight; });
            ++size;
        }
        visit(j, Column{{values.data() + begin, size}, {weights.data() + begin, size}});
    }
}

/// A value and the signed weight of the rows that have it.
struct Step {
    float value;
    double signed_weight;
};

/// Sums the signed weights by value, ascending. False if some value is not a small whole number.
bool count_values(const Column& column, std::vector<Step>& steps) {
    std::array<double, n_whole> sums{};
    std::array<std::uint8_t, n_whole> is_present{};
    for (std::size_t n = 0; n < column.values.size(); ++n) {
        const float value = column.values[n];
        if (!(value >= 0.0F && value < static_cast<float>(n_whole))) return false;
        const auto whole = static_cast<std::size_t>(value);
        if (static_cast<float>(whole) != value) return false;
        sums[whole] += column.signed_weights[n];
        is_present[whole] = 1;
    }
    steps.clear();
    for (std::size_t whole = 0; whole < n_whole; ++whole)
        if (is_present[whole] != 0) steps.push_back({static_cast<float>(whole), sums[whole]});
    return true;
}

/// Entries by value, those of one value in the order of the rows.
void sort_values(const Column& column, std::vector<std::uint64_t>& keys, std::vector<Step>& steps) {
    keys.clear();
    for (std::size_t n = 0; n < column.values.size(); ++n) keys.push_back(sort_key(column.values[n], n));
    std::ranges::sort(keys);
    check_stop_after(keys.size());
    steps.clear();
    for (std::uint64_t key : keys) {
        const std::size_t n = place_of(key);
        steps.push_back({column.values[n], column.signed_weights[n]});
    }
}

/// visit(feature, steps) for each column.
template <Design D, class Visit>
void visit_steps(const D& rows, const ReducedProblem& problem, std::span<const double> signed_weights, double total,
                 const Visit& visit) {
    std::vector<std::uint64_t> keys;
    std::vector<Step> steps;
    visit_columns(rows, problem, signed_weights, total, [&](std::size_t feature, const Column& column) {
        if (!count_values(column, steps)) sort_values(column, keys, steps);
        visit(feature, steps);
    });
}

/// Weighted 0/1 loss of the pseudo-labels (boosted-tao eq. (4)) at every threshold of a column ("found exactly by enumeration",
/// fao section 3). With S(t) the sum of signed weights below t, sending x >= t right costs `left_only + S(t)` and
/// sending x < t right costs `right_only - S(t)`. Of splits that differ by no more than rounding the first is
/// taken: a row of weight k must do as k copies of it.
void scan_column(std::size_t feature, std::span<const Step> steps, double left_only, double right_only, double alpha,
                 AxisSplit& best) {
    const double rounding = 1e-12 * (left_only + right_only);
    double below = 0.0;
    for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
        below += steps[k].signed_weight;
        const float a = steps[k].value;
        const float b = steps[k + 1].value;
        if (!(a < b)) continue;
        const bool is_up = left_only + below <= right_only - below + rounding;
        const double cost = (is_up ? left_only + below : right_only - below) + alpha;
        if (!(cost < best.cost - rounding)) continue;
        const float middle = 0.5F * a + 0.5F * b;
        best.feature = static_cast<std::int32_t>(feature);
        best.sign = is_up ? 1.0F : -1.0F;
        // x >= b must go right when up, x <= a when down, whatever the rounding of the middle.
        best.bias = is_up ? -static_cast<double>(middle > a ? middle : b) : static_cast<double>(middle < b ? middle : a);
        best.cost = cost;
    }
}

}  // namespace

template <Design D>
AxisSplit solve_axis(const D& rows, const ReducedProblem& problem, double alpha) {
    double left_only = 0.0;   // cost of sending all right: the weight of those that want left
    double right_only = 0.0;  // and the other way round
    std::vector<double> signed_weights(problem.rows.size());
    for (std::size_t n = 0; n < problem.rows.size(); ++n) {
        (problem.labels[n] < 0 ? left_only : right_only) += problem.weights[n];
        signed_weights[n] = problem.weights[n] * problem.labels[n];
    }
    AxisSplit best;
    best.bias = left_only <= right_only ? 1.0 : -1.0;
    best.cost = std::min(left_only, right_only);

    visit_steps(rows, problem, signed_weights, right_only - left_only, [&](std::size_t feature, std::span<const Step> steps) {
        scan_column(feature, steps, left_only, right_only, alpha, best);
    });
    return best;
}

#define SPINNEY_INSTANTIATE(D) template AxisSplit solve_axis<D>(const D&, const ReducedProblem&, double);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
