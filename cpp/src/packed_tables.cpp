#include "spinney/packed_tables.hpp"

#include <bit>

namespace spinney {

void PaddedTable::append(std::span<const std::int32_t> indices, std::span<const float> weights) {
    const std::size_t n_lines = ((n_rows_ + 1) * stride_ + line_size - 1) / line_size;
    if (lines_.size() < n_lines) lines_.resize(n_lines, Line{});
    float* row = reinterpret_cast<float*>(lines_.data()) + n_rows_ * stride_;
    for (std::size_t k = 0; k < indices.size(); ++k) row[static_cast<std::size_t>(indices[k])] = weights[k];
    ++n_rows_;
}

void SparseTable::append(std::span<const std::int32_t> row_indices, std::span<const float> row_weights) {
    indices.insert(indices.end(), row_indices.begin(), row_indices.end());
    weights.insert(weights.end(), row_weights.begin(), row_weights.end());
    begin.push_back(indices.size());
}

void ColumnMasks::build(const SparseTable& table, std::size_t n_features) {
    constexpr std::size_t most_times_larger = 4;
    const std::size_t n_words = (n_features + 63) / 64;
    const std::size_t table_size = table.indices.size() * (sizeof(std::int32_t) + sizeof(float));
    if (table.n_rows() * n_words * sizeof(Word) > most_times_larger * table_size) return;
    n_words_ = n_words;
    words_.resize(table.n_rows() * n_words);
    for (std::size_t row = 0; row < table.n_rows(); ++row) {
        for (std::size_t k = table.begin[row]; k < table.begin[row + 1]; ++k) {
            const auto column = static_cast<std::size_t>(table.indices[k]);
            Word& word = words_[row * n_words + column / 64];
            if (word.bits == 0) word.first = k;
            word.bits |= std::uint64_t{1} << column % 64;
        }
    }
}

double ColumnMasks::dot(std::span<const std::int32_t> columns, std::span<const float> entries, const SparseTable& table,
                        std::size_t number) const {
    const Word* words = words_.data() + number * n_words_;
    LaneSum sum;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto column = static_cast<std::size_t>(columns[k]);
        const Word& word = words[column / 64];
        const std::uint64_t bit = std::uint64_t{1} << column % 64;
        if ((word.bits & bit) == 0) continue;
        const auto n_before = static_cast<std::size_t>(std::popcount(word.bits & (bit - 1)));
        sum.add(column, entries[k] * table.weights[word.first + n_before]);
    }
    return sum.total();
}

}  // namespace spinney
