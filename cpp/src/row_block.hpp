#pragma once
/// Rows of any kind, a block at a time, as the walks through packed trees read them.

#include <cstddef>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/packed_tables.hpp"

namespace spinney {

/// A few rows as floats, in place where they are floats already, else in a buffer of padded rows.
template <Design D>
class RowBlock {
  public:
    RowBlock(const D& rows, std::size_t capacity, bool is_padded)
        : rows_(rows), stride_(is_padded ? padded_size(rows.n_features) : rows.n_features), x_(capacity) {
        if (!is_in_place()) buffer_.resize(capacity * stride_, 0.0F);
    }

    void load(std::size_t first, std::size_t count) {
        if constexpr (is_sparse<D>) clear();
        first_ = first;
        count_ = count;
        for (std::size_t r = 0; r < count; ++r) {
            if constexpr (is_float<D>)
                if (is_in_place()) {
                    x_[r] = rows_.row(first + r).data();
                    continue;
                }
            float* x = buffer_.data() + r * stride_;
            rows_.for_each(first + r, [&](std::size_t j, float value) { x[j] = value; });
            x_[r] = x;
        }
    }

    [[nodiscard]] std::size_t first() const { return first_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<const float* const> x() const { return {x_.data(), count_}; }

    /// Product of row r with a full hyperplane, or with one of a sparse table.
    [[nodiscard]] double dot(std::size_t r, const float* w) const { return rows_.dot(first_ + r, w); }
    [[nodiscard]] double dot(std::size_t r, const ColumnMasks& masks, const SparseTable& table, std::size_t number) const {
        if constexpr (is_sparse<D>)
            return masks.dot(rows_.columns(first_ + r), rows_.entries(first_ + r), table, number);
        else
            return spinney::dot(table.columns(number), table.weights.data() + table.begin[number], x_[r]);
    }

    /// Whether the rows are sparse and have, on average, fewer than `count` entries.
    [[nodiscard]] bool has_fewer_entries_than(std::size_t count) const {
        if constexpr (is_sparse<D>)
            return rows_.count_entries(first_, count_) < count * count_;
        else
            return false;
    }

  private:
    [[nodiscard]] bool is_in_place() const { return is_float<D> && stride_ <= rows_.width(); }
    void clear() {
        for (std::size_t r = 0; r < count_; ++r)
            rows_.for_each(first_ + r, [&](std::size_t j, float) { buffer_[r * stride_ + j] = 0.0F; });
    }

    const D& rows_;
    std::size_t stride_, first_ = 0, count_ = 0;
    std::vector<float> buffer_;
    std::vector<const float*> x_;
};

}  // namespace spinney
