#include "spinney/table/codes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {
namespace {

/// Codes of the values of one column.
class Coder {
  public:
    Coder(std::span<const float> thresholds, std::size_t n_levels) : n_levels_(n_levels) {
        edges_.fill(std::numeric_limits<float>::infinity());
        std::ranges::copy(thresholds, edges_.begin());
    }

    [[nodiscard]] std::uint8_t code_of(float x) const {
        if (std::isnan(x)) return missing_code;
        if (std::isinf(x)) throw std::invalid_argument("a value is infinite; give finite numbers, or NaN for a missing one");
        return n_levels_ > 0 ? level_of(x) : count_edges_below(x);
    }

  private:
    /// Without jumps, which no processor could foresee.
    [[nodiscard]] std::uint8_t count_edges_below(float x) const {
        std::size_t count = 0;
        for (std::size_t step = 128; step > 0; step /= 2) count += step * static_cast<std::size_t>(edges_[count + step - 1] < x);
        return static_cast<std::uint8_t>(count);
    }
    [[nodiscard]] std::uint8_t level_of(float x) const {
        if (!(x >= 0.0F && x < static_cast<float>(n_levels_) && x == std::floor(x)))
            throw std::invalid_argument(std::to_string(x) + " is no level of a column of " + std::to_string(n_levels_) +
                                        " levels; give whole numbers from 0 on, or NaN for a missing one");
        return static_cast<std::uint8_t>(x);
    }

    std::array<float, 256> edges_{};  // behind the last one infinity
    std::size_t n_levels_;
};

/// Codes of columns of bytes, looked up.
void code_bytes(const ByteRows& rows, std::span<const TableColumn> columns, const RowRange& range, std::span<const Coder> coders,
                std::uint8_t* codes) {
    constexpr std::size_t n_bytes = 256;
    std::array<std::array<std::uint8_t, n_bytes>, group_columns> code_of{};
    for (std::size_t k = 0; k < columns.size(); ++k)
        for (std::size_t x = 0; x < n_bytes; ++x) code_of[k][x] = coders[k].code_of(static_cast<float>(x));
    for (std::size_t n = range.first; n < range.last; ++n)
        for (std::size_t k = 0; k < columns.size(); ++k)
            codes[n * columns.size() + k] = code_of[k][rows.begin(n)[columns[k].first]];
}

/// Codes of the rows of a group that a range holds.
template <DenseDesign D>
void code_group(const D& rows, std::span<const TableColumn> columns, const RowRange& range, std::span<const Coder> coders,
                const ColumnGroup& group, std::uint8_t* codes) {
    if constexpr (is_bytes<D>) {
        const auto here = columns.subspan(group.first, group.width);
        if (std::ranges::all_of(here, [](const TableColumn& c) { return c.is_number() && c.flag == TableColumn::no_flag; })) {
            code_bytes(rows, here, range, coders.subspan(group.first, group.width), codes);
            return;
        }
    }
    for (std::size_t n = range.first; n < range.last; ++n) {
        const auto* x = rows.begin(n);
        for (std::size_t k = 0; k < group.width; ++k)
            codes[n * group.width + k] = coders[group.first + k].code_of(columns[group.first + k].value(x));
    }
}

template <DenseDesign D>
void code_range(const D& rows, std::span<const TableColumn> columns, const RowRange& range, std::span<const Coder> coders,
                Codes& out) {
    for (const ColumnGroup& group : out.groups()) code_group(rows, columns, range, coders, group, out.writable(group));
}
/// All zeros first, then the entries.
template <SparseDesign D>
void code_range(const D& rows, std::span<const TableColumn>, const RowRange& range, std::span<const Coder> coders, Codes& out) {
    for (const ColumnGroup& group : out.groups()) {
        std::array<std::uint8_t, group_columns> zeros{};
        for (std::size_t k = 0; k < group.width; ++k) zeros[k] = coders[group.first + k].code_of(0.0F);
        for (std::size_t n = range.first; n < range.last; ++n)
            std::copy_n(zeros.begin(), group.width, out.writable(group) + n * group.width);
    }
    for (std::size_t n = range.first; n < range.last; ++n)
        rows.for_each(n, [&](std::size_t j, float x) {
            const ColumnGroup& group = out.group_of(j);
            out.writable(group)[n * group.width + j - group.first] = coders[j].code_of(x);
        });
}

}  // namespace

Codes::Codes(std::size_t n_rows, std::vector<std::size_t> n_bins)
    : n_rows_(n_rows), n_bins_(std::move(n_bins)),
      codes_(std::make_unique_for_overwrite<std::uint8_t[]>(n_rows * n_bins_.size())) {
    const std::size_t n_groups = (n_columns() + group_columns - 1) / group_columns;
    std::size_t first = 0;
    for (std::size_t g = 0; g < n_groups; ++g) {  // of equal width, as far as possible: threads share them, the widest first
        const std::size_t width = n_columns() / n_groups + (g < n_columns() % n_groups ? 1 : 0);
        groups_.push_back({first, width, codes_.get() + first * n_rows});
        group_of_.insert(group_of_.end(), width, static_cast<std::uint32_t>(g));
        first += width;
    }
}

template <Design D>
Codes code_rows(const D& rows, std::span<const TableColumn> columns, const Edges& edges, std::size_t n_threads) {
    std::vector<Coder> coders;
    std::vector<std::size_t> n_bins;
    for (std::size_t j = 0; j < edges.n_columns(); ++j) {
        coders.emplace_back(edges.of(j), edges.n_levels[j]);
        n_bins.push_back(edges.n_bins(j));
    }
    Codes out(rows.n_rows, std::move(n_bins));
    constexpr std::size_t rows_in_cache = is_sparse<D> ? table_block : 256;  // for all groups of dense rows
    parallel_for(count_table_blocks(rows.n_rows), n_threads, [&](std::size_t b) {
        const RowRange block = rows_of_block(b, rows.n_rows);
        for (std::size_t first = block.first; first < block.last; first += rows_in_cache) {
            code_range(rows, columns, {first, std::min(first + rows_in_cache, block.last)}, coders, out);
            check_stop_after(rows_in_cache * out.n_columns());
        }
    });
    return out;
}

#define SPINNEY_INSTANTIATE(D) template Codes code_rows<D>(const D&, std::span<const TableColumn>, const Edges&, std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
