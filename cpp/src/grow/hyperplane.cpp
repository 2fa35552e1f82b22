#include "spinney/grow/hyperplane.hpp"

#include <algorithm>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Rows that are asked for before they are needed.
constexpr std::size_t rows_ahead = 16;

/// Following indices pays only if few weights are not zero: one of them costs as much as some eight that lie in a row.
bool is_narrow(const Hyperplane& plane, std::size_t n_features) {
    return plane.columns.size() == 1 || plane.columns.size() * 8 <= n_features;
}

std::vector<float> full(const Hyperplane& plane, std::size_t width) {
    std::vector<float> w(width);
    for (std::size_t k = 0; k < plane.columns.size(); ++k) w[plane.columns[k]] = plane.weights[k];
    return w;
}

template <class T>
float narrow_dot(const T* x, const Hyperplane& plane) {
    if (plane.columns.size() == 1) return static_cast<float>(x[plane.columns[0]]) * plane.weights[0];
    LaneSum sum;
    for (std::size_t k = 0; k < plane.columns.size(); ++k)
        sum.add(plane.columns[k], static_cast<float>(x[plane.columns[k]]) * plane.weights[k]);
    return static_cast<float>(sum.total());
}

template <DenseDesign D>
void gather_dense(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns,
                  std::span<float> values) {
    const std::size_t n = numbers.size();
    for (std::size_t i = 0; i < n; ++i) {
        check_stop_at(i);
        const auto* x = rows.row(numbers[i]).data();
        for (std::size_t c = 0; c < columns.size(); ++c) values[c * n + i] = static_cast<float>(x[columns[c]]);
    }
}

/// The columns in their order, so that each row is passed once.
template <SparseDesign D>
void gather_sparse(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns,
                   std::span<float> values) {
    const std::size_t n = numbers.size();
    std::vector<std::pair<std::int32_t, std::size_t>> places(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) places[c] = {static_cast<std::int32_t>(columns[c]), c};
    std::ranges::sort(places);
    std::ranges::fill(values.first(n * columns.size()), 0.0F);
    for (std::size_t i = 0; i < n; ++i) {
        check_stop_at(i);
        const auto of_row = rows.columns(numbers[i]);
        const auto entries = rows.entries(numbers[i]);
        auto at = of_row.begin();
        for (const auto& [column, place] : places) {
            at = std::lower_bound(at, of_row.end(), column);
            if (at == of_row.end()) break;
            if (*at == column) values[place * n + i] = entries[static_cast<std::size_t>(at - of_row.begin())];
        }
    }
}

}  // namespace

Hyperplane compact(std::span<const float> w, double bias) {
    Hyperplane plane;
    plane.bias = bias;
    for (std::size_t j = 0; j < w.size(); ++j) {
        if (w[j] == 0.0F) continue;
        plane.columns.push_back(static_cast<std::uint32_t>(j));
        plane.weights.push_back(w[j]);
    }
    return plane;
}

template <Design D>
void score_rows(const D& rows, std::span<const std::uint32_t> numbers, const Hyperplane& plane, std::span<float> scores) {
    if constexpr (!is_sparse<D>) {
        if (is_narrow(plane, rows.n_features)) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                check_stop_at(i);
                if (i + rows_ahead < numbers.size())
                    __builtin_prefetch(rows.begin(numbers[i + rows_ahead]) + plane.columns[0], 0, 3);
                scores[i] = narrow_dot(rows.row(numbers[i]).data(), plane);
            }
            return;
        }
    }
    const std::vector<float> w = full(plane, rows.width());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        check_stop_at(i);
        if (i + 4 < numbers.size()) rows.prefetch(numbers[i + 4]);
        scores[i] = static_cast<float>(rows.dot(numbers[i], w.data()));
    }
}

template <Design D>
void gather_columns(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns,
                    std::span<float> values) {
    if constexpr (is_sparse<D>)
        gather_sparse(rows, numbers, columns, values);
    else
        gather_dense(rows, numbers, columns, values);
}

#define SPINNEY_INSTANTIATE(D)                                                                               \
    template void score_rows(const D&, std::span<const std::uint32_t>, const Hyperplane&, std::span<float>); \
    template void gather_columns(const D&, std::span<const std::uint32_t>, std::span<const std::uint32_t>, std::span<float>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
