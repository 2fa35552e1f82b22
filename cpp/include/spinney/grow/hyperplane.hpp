#pragma once
/// A hyperplane of a growing tree, and the scores of rows under it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/design.hpp"

namespace spinney {

/// A row goes right if weights . x[columns] + bias >= 0. Columns ascend; no weight is zero.
struct Hyperplane {
    std::vector<std::uint32_t> columns;
    std::vector<float> weights;
    double bias = 0.0;

    [[nodiscard]] bool is_empty() const { return columns.empty(); }
};

/// The non-zeros of a full hyperplane.
[[nodiscard]] Hyperplane compact(std::span<const float> w, double bias);

/// weights . x of the given rows, without the bias, with the bits that every other walk through the finished tree gives.
template <Design D>
void score_rows(const D& rows, std::span<const std::uint32_t> numbers, const Hyperplane& plane, std::span<float> scores);

/// Values of some columns in the given rows: column c of row i goes to values[c * numbers.size() + i].
template <Design D>
void gather_columns(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns,
                    std::span<float> values);

}  // namespace spinney
