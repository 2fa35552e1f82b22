#include "spinney/solve_axis.hpp"

#include <algorithm>
#include <vector>

namespace spinney {
namespace {

/// A value of one column and its signed weight c_n y_n.
struct Entry {
    float value;
    double signed_weight;
};

/// Columns of the care points. Dense rows are read with a stride; sparse ones are transposed once.
template <Design D>
class Columns {
public:
    Columns(const D& rows, const ReducedProblem& problem) : rows_(rows), problem_(problem) {
        if constexpr (is_sparse<D>) transpose();
    }

    /// All values of column j in row order; the zeros of a sparse column as one entry.
    void read(std::size_t j, double total, std::vector<Entry>& out) const {
        out.clear();
        if constexpr (is_sparse<D>) {
            double zeros = total;
            for (std::size_t k = starts_[j]; k < starts_[j + 1]; ++k) {
                out.push_back(entries_[k]);
                zeros -= entries_[k].signed_weight;
            }
            if (out.size() < problem_.rows.size()) out.push_back({0.0F, zeros});
        } else {
            for (std::size_t n = 0; n < problem_.rows.size(); ++n)
                out.push_back({static_cast<float>(rows_.row(problem_.rows[n])[j]), signed_weight(n)});
        }
    }

private:
    [[nodiscard]] double signed_weight(std::size_t n) const { return problem_.weights[n] * problem_.labels[n]; }

    void transpose() {
        starts_.resize(rows_.n_features + 1);
        for (std::size_t n : problem_.rows) rows_.for_each(n, [&](std::size_t j, float) { ++starts_[j + 1]; });
        for (std::size_t j = 0; j < rows_.n_features; ++j) starts_[j + 1] += starts_[j];
        entries_.resize(starts_.back());
        auto next = starts_;
        for (std::size_t n = 0; n < problem_.rows.size(); ++n)
            rows_.for_each(problem_.rows[n], [&](std::size_t j, float x) { entries_[next[j]++] = {x, signed_weight(n)}; });
    }

    const D& rows_;
    ReducedProblem problem_;
    std::vector<std::size_t> starts_;
    std::vector<Entry> entries_;
};

/// With S(t) the sum of signed weights below t, sending x >= t right costs `left_only + S(t)` and
/// sending x < t right costs `right_only - S(t)`. Of splits that differ by no more than rounding the first is
/// taken: a row of weight k must do as k copies of it.
void scan_column(std::size_t feature, std::vector<Entry>& column, double left_only, double right_only, double alpha,
                 AxisSplit& best) {
    const double rounding = 1e-12 * (left_only + right_only);
    std::ranges::stable_sort(column, {}, &Entry::value);
    double below = 0.0;
    for (std::size_t k = 0; k + 1 < column.size(); ++k) {
        below += column[k].signed_weight;
        const float a = column[k].value;
        const float b = column[k + 1].value;
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
    for (std::size_t n = 0; n < problem.rows.size(); ++n)
        (problem.labels[n] < 0 ? left_only : right_only) += problem.weights[n];
    AxisSplit best;
    best.bias = left_only <= right_only ? 1.0 : -1.0;
    best.cost = std::min(left_only, right_only);

    const Columns<D> columns(rows, problem);
    std::vector<Entry> column;
    for (std::size_t j = 0; j < rows.n_features; ++j) {
        columns.read(j, right_only - left_only, column);
        scan_column(j, column, left_only, right_only, alpha, best);
    }
    return best;
}

template AxisSplit solve_axis<DenseRows>(const DenseRows&, const ReducedProblem&, double);
template AxisSplit solve_axis<ByteRows>(const ByteRows&, const ReducedProblem&, double);
template AxisSplit solve_axis<SparseRows>(const SparseRows&, const ReducedProblem&, double);

}  // namespace spinney
