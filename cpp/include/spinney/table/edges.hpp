#pragma once
/// Where the values of each column are cut into bins.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/table/sketch.hpp"

namespace spinney {

inline constexpr std::size_t max_bins = 255;
/// Code of a missing value in every column.
inline constexpr std::uint8_t missing_code = 255;

/// Cuts of all columns. A column of numbers with edges e_0 < e_1 < ... gives x the code k of the first edge with x <= e_k, or
/// the number of its edges: code(x) <= k exactly where x <= e_k. A column of levels gives a level its own number as code.
struct Edges {
    std::vector<std::size_t> begin{0};   ///< thresholds of column j: begin[j] .. begin[j + 1]
    std::vector<float> thresholds;       ///< finite, ascending within a column
    std::vector<std::uint8_t> n_levels;  ///< of a column of levels; 0 for a column of numbers

    [[nodiscard]] std::size_t n_columns() const { return n_levels.size(); }
    [[nodiscard]] std::span<const float> of(std::size_t column) const {
        return std::span(thresholds).subspan(begin[column], begin[column + 1] - begin[column]);
    }
    /// Bins that are not for missing values; at least one.
    [[nodiscard]] std::size_t n_bins(std::size_t column) const {
        return n_levels[column] > 0 ? n_levels[column] : begin[column + 1] - begin[column] + 1;
    }
};

/// Thresholds that cut a sketch into at most n_bins bins: one a value if there are no more values, else bins of about equal
/// weight. Each lies halfway between two values, rounded to float32 so that it parts them; in a sketch that was shortened it is
/// the lower one, for of the values between them some are not kept.
[[nodiscard]] std::vector<float> thresholds_of(const Sketch& sketch, std::size_t n_bins);

/// Edges of all columns. `n_levels` has a number > 0 for each column of levels.
[[nodiscard]] Edges find_edges(std::span<const Sketch> sketches, std::span<const std::uint8_t> n_levels, std::size_t n_bins);

}  // namespace spinney
