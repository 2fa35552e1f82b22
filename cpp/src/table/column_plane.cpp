#include "spinney/table/column_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/table/edges.hpp"

namespace spinney {
namespace {

std::uint32_t flag_of(const TableColumn& column) { return static_cast<std::uint32_t>(column.flag); }

/// Columns of a hyperplane ascend.
void add_weight(Hyperplane& plane, std::uint32_t coordinate, float weight) {
    const auto at = std::ranges::lower_bound(plane.columns, coordinate) - plane.columns.begin();
    plane.columns.insert(plane.columns.begin() + at, coordinate);
    plane.weights.insert(plane.weights.begin() + at, weight);
}

void send_missing(const CodedColumns& coded, std::size_t column, bool is_right, Hyperplane& plane) {
    const float low = coded.missing_low[column], high = coded.missing_high[column];
    const auto goes_right = [&](float x) { return static_cast<double>(plane.weights[0] * x) + plane.bias >= 0.0; };
    if (goes_right(low) == is_right && goes_right(high) == is_right) return;
    const double size =
        std::fabs(plane.bias) + std::max(std::fabs(static_cast<double>(low)), std::fabs(static_cast<double>(high)));
    const auto weight =
        static_cast<float>(std::min(2.0 * size + 1.0, static_cast<double>(std::numeric_limits<float>::max()) / 4));
    add_weight(plane, flag_of(coded.columns[column]), is_right ? weight : -weight);
}

}  // namespace

Hyperplane plane_of_missing(const TableColumn& column, bool is_right) {
    const float weight = is_right ? 1.0F : -1.0F;
    return {{flag_of(column)}, {weight}, -0.5 * static_cast<double>(weight)};
}

Hyperplane plane_of_levels(const TableColumn& column, const CodeSides& sides) {
    std::size_t n_left = sides[missing_code] == Side::left ? 1 : 0, n_right = sides[missing_code] == Side::right ? 1 : 0;
    for (std::size_t level = 0; level < column.n_levels; ++level) {
        n_left += sides[level] == Side::left ? 1 : 0;
        n_right += sides[level] == Side::right ? 1 : 0;
    }
    bool is_right_usual = n_right > n_left;
    if (sides[column.n_levels] != Side::any) is_right_usual = sides[column.n_levels] == Side::right;
    const Side told = is_right_usual ? Side::left : Side::right;
    const float weight = is_right_usual ? -1.0F : 1.0F;
    Hyperplane plane;
    plane.bias = -0.5 * static_cast<double>(weight);
    for (std::uint32_t level = 0; level < column.n_levels; ++level)
        if (sides[level] == told) add_weight(plane, column.first + level, weight);
    if (column.flag != TableColumn::no_flag && sides[missing_code] == told) add_weight(plane, flag_of(column), weight);
    return plane;
}

Hyperplane plane_of_threshold(const CodedColumns& coded, std::size_t column, float low, float high, bool is_up, Side missing) {
    const float middle = 0.5F * low + 0.5F * high;
    Hyperplane plane{{coded.columns[column].first}, {is_up ? 1.0F : -1.0F}, 0.0};
    // x >= high must go right when up, x <= low when down, whatever the rounding of the middle.
    plane.bias = is_up ? -static_cast<double>(middle > low ? middle : high) : static_cast<double>(middle < high ? middle : low);
    if (coded.columns[column].flag != TableColumn::no_flag && missing != Side::any)
        send_missing(coded, column, missing == Side::right, plane);
    return plane;
}

}  // namespace spinney
