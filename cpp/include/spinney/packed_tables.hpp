#pragma once
/// Tables of hyperplanes, as the walks through packed trees read them: padded rows of floats, or non-zeros alone.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/simd.hpp"

namespace spinney {

/// Rows of floats, each padded with zeros to `stride` and aligned to registers.
class PaddedTable {
  public:
    explicit PaddedTable(std::size_t n_features) : stride_(padded_size(n_features)) {}
    void reserve(std::size_t n_rows) { lines_.reserve((n_rows * stride_ + line_size - 1) / line_size); }
    void append(std::span<const std::int32_t> indices, std::span<const float> weights);

    [[nodiscard]] const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] std::size_t n_rows() const { return n_rows_; }

  private:
    static constexpr std::size_t line_size = 16;
    struct alignas(64) Line {
        float values[line_size];
    };
    std::size_t stride_, n_rows_ = 0;
    std::vector<Line> lines_;
};

/// Rows of non-zeros one behind the other.
struct SparseTable {
    std::vector<std::size_t> begin{0};
    std::vector<std::int32_t> indices;
    std::vector<float> weights;

    void append(std::span<const std::int32_t> row_indices, std::span<const float> row_weights);
    [[nodiscard]] std::size_t n_rows() const { return begin.size() - 1; }
    [[nodiscard]] std::span<const std::int32_t> columns(std::size_t row) const {
        return {indices.data() + begin[row], begin[row + 1] - begin[row]};
    }
};

/// Which columns the rows of a SparseTable have, one bit each: the way from a column to its weight. A row of
/// text has few entries, and nearly all of them meet no weight.
class ColumnMasks {
  public:
    /// Stays empty if the bits would take far more memory than the table.
    void build(const SparseTable& table, std::size_t n_features);
    [[nodiscard]] bool empty() const { return words_.empty(); }

    /// Product of a sparse row with row `number` of the table, with the same bits as `dot`.
    [[nodiscard]] double dot(std::span<const std::int32_t> columns, std::span<const float> entries, const SparseTable& table,
                             std::size_t number) const;

  private:
    struct Word {
        std::uint64_t bits = 0;
        std::size_t first = 0;  ///< place in the table of the weight of its first column
    };
    std::size_t n_words_ = 0;  ///< words of a row
    std::vector<Word> words_;
};

}  // namespace spinney
