#pragma once
/// Splits by one column of a table as hyperplanes over the coordinates of its rows.

#include <array>
#include <cstddef>
#include <cstdint>

#include "spinney/grow/hyperplane.hpp"
#include "spinney/table/training_table.hpp"

namespace spinney {

/// Where something goes in a split, or that it does not matter.
enum class Side : std::int8_t { left = -1, any = 0, right = 1 };

/// A side for each code of a column.
using CodeSides = std::array<Side, 256>;

/// Missing values one way, all others the other way.
[[nodiscard]] Hyperplane plane_of_missing(const TableColumn& column, bool is_right);

/// The side of most levels is that of rows without any weight on it; others are told by their indicators. Rows of no level have
/// no indicator, so their side comes first.
[[nodiscard]] Hyperplane plane_of_levels(const TableColumn& column, const CodeSides& sides);

/// Numbers >= high go right if `is_up`, else left; those <= low the other way. The threshold lies halfway between them. Where
/// missing values are to go to the other side than what stands for them in the column, their flag has a weight that decides
/// alone.
[[nodiscard]] Hyperplane plane_of_threshold(const CodedColumns& coded, std::size_t column, float low, float high, bool is_up,
                                            Side missing);

}  // namespace spinney
