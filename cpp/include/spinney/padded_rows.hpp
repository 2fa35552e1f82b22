#pragma once
/// Dense rows that own their memory and end with whole vectors, so that no kernel meets a rest of a row.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "spinney/design.hpp"
#include "spinney/parallel.hpp"

namespace spinney {

/// Rows of floats or bytes, zero behind the last column up to `padded_size`, aligned to cache lines.
template <class T>
class PaddedRows {
  public:
    /// fill(n, out) writes the columns of row n.
    template <class Fill>
    PaddedRows(std::size_t n_rows, std::size_t n_features, const Fill& fill)
        : values_(allocate(n_rows * padded_size(n_features))), view_{values_.get(), n_rows, n_features, padded_size(n_features)} {
        for (std::size_t n = 0; n < n_rows; ++n) {
            check_stop_at(n);
            T* row = values_.get() + n * view_.stride;
            fill(n, row);
            std::fill(row + n_features, row + view_.stride, T{0});
        }
    }

    /// Good as long as the rows are, wherever they are moved to.
    [[nodiscard]] const DenseRowsOf<T>& view() const { return view_; }

  private:
    static constexpr std::align_val_t cache_line{64};
    struct Free {
        void operator()(T* values) const { ::operator delete(values, cache_line); }
    };
    // Not a vector: to fill it with zeros first takes long, and nothing could stop it.
    using Values = std::unique_ptr<T[], Free>;
    static Values allocate(std::size_t size) { return Values(static_cast<T*>(::operator new(size * sizeof(T), cache_line))); }

    Values values_;
    DenseRowsOf<T> view_;
};

}  // namespace spinney
