#pragma once
/// The columns of a table, as the user has them, among the coordinates of its rows.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace spinney {

/// A number, or a set of levels with an indicator each. A split of one column may read all its coordinates.
struct TableColumn {
    static constexpr std::int32_t no_flag = -1;

    std::uint32_t first = 0;      ///< coordinate of the number, or the indicator of the first level
    std::uint32_t n_levels = 0;   ///< indicators that follow each other; 0 for a number
    std::int32_t flag = no_flag;  ///< coordinate that is 1 where the value is missing

    [[nodiscard]] bool is_number() const { return n_levels == 0; }
    /// Coordinates besides the flag.
    [[nodiscard]] std::uint32_t n_coordinates() const { return is_number() ? 1 : n_levels; }
    /// The number, or the place of the level among the indicators, `n_levels` if none of them is set; NaN if it is missing.
    template <class T>
    [[nodiscard]] float value(const T* x) const {
        if (flag != no_flag && x[flag] != T{0}) return std::numeric_limits<float>::quiet_NaN();
        if (is_number()) return static_cast<float>(x[first]);
        std::uint32_t level = 0;
        while (level < n_levels && x[first + level] == T{0}) ++level;
        return static_cast<float>(level);
    }
};

/// Every coordinate a number.
[[nodiscard]] inline std::vector<TableColumn> plain_columns(std::size_t n_features) {
    std::vector<TableColumn> columns(n_features);
    for (std::size_t j = 0; j < n_features; ++j) columns[j].first = static_cast<std::uint32_t>(j);
    return columns;
}

}  // namespace spinney
