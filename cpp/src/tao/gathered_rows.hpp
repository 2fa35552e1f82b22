#pragma once
/// Some columns of some rows, copied together: a solver of few columns then reads nothing else.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/padded_rows.hpp"
#include "spinney/parallel.hpp"

namespace spinney {

template <class D>
struct GatheredRows;

/// Dense rows, of bytes as well, become dense floats.
template <DenseDesign D>
struct GatheredRows<D> {
    PaddedRows<float> values;

    GatheredRows(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns)
        : values(numbers.size(), columns.size(),
                 [&](std::size_t i, float* out) {
                     rows.prefetch(numbers[std::min(i + 1, numbers.size() - 1)]);
                     const auto row = rows.row(numbers[i]);
                     for (std::size_t k = 0; k < columns.size(); ++k) out[k] = static_cast<float>(row[columns[k]]);
                 }),
          part(values.view()) {}

    DenseRows part;
};

/// Sparse rows stay sparse.
template <SparseDesign D>
struct GatheredRows<D> {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> values;

    GatheredRows(const D& rows, std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> columns) {
        std::vector<std::int32_t> place(rows.n_features, -1);
        for (std::size_t k = 0; k < columns.size(); ++k) place[columns[k]] = static_cast<std::int32_t>(k);
        for (std::uint32_t number : numbers) {
            check_stop_at(indptr.size());
            rows.for_each(number, [&](std::size_t j, float x) {
                if (place[j] < 0) return;
                indices.push_back(place[j]);
                values.push_back(x);
            });
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
        part = {indptr.data(), indices.data(), values.data(), numbers.size(), columns.size()};
    }
    GatheredRows(const GatheredRows&) = delete;  // `part` borrows the vectors
    GatheredRows& operator=(const GatheredRows&) = delete;

    SparseRows part;
};

}  // namespace spinney
