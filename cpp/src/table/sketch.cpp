#include "spinney/table/sketch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "sort_key.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {
namespace {

float value_of_key(std::uint64_t key) {
    const auto bits = static_cast<std::uint32_t>(key >> 32U);
    return std::bit_cast<float>((bits >> 31U) != 0 ? bits ^ (1U << 31U) : ~bits);
}

/// Sorts keys by their values, those of one value staying in order: three passes over 11 bits each.
class KeySorter {
  public:
    void sort(std::vector<std::uint64_t>& keys) {
        if (keys.size() < fewest) {
            std::ranges::sort(keys);
            return;
        }
        other_.resize(keys.size());
        for (unsigned shift : {32U, 43U, 54U}) pass(keys, shift);
    }

  private:
    static constexpr std::size_t fewest = 256, n_digits = 2048;

    void pass(std::vector<std::uint64_t>& keys, unsigned shift) {
        std::array<std::uint32_t, n_digits> at{};
        const auto digit = [&](std::uint64_t key) { return static_cast<std::size_t>(key >> shift) % n_digits; };
        for (std::uint64_t key : keys) ++at[digit(key)];
        if (at[digit(keys.front())] == keys.size()) return;
        std::uint32_t sum = 0;
        for (std::uint32_t& place : at) sum += std::exchange(place, sum);
        for (std::uint64_t key : keys) other_[at[digit(key)]++] = key;
        keys.swap(other_);
    }

    std::vector<std::uint64_t> other_;
};

/// What one column holds in one block.
struct BlockColumn {
    std::vector<std::uint64_t> keys;  ///< values that are neither missing nor 0, places within the block
    double weight = 0.0;              ///< of the rows that are not 0 here, missing ones included
    std::size_t n_rows = 0;
};

/// Weight of a block, and of how many rows.
struct BlockWeight {
    double weight = 0.0;
    std::size_t n_rows = 0;
};

BlockWeight weight_of(std::span<const double> weights) {
    BlockWeight out;
    for (double weight : weights) {
        out.weight += weight;
        out.n_rows += weight > 0.0 ? 1 : 0;
    }
    return out;
}

void reserve(Sketch& sketch, std::size_t size) {
    sketch.values.reserve(size);
    sketch.weights.reserve(size);
}

/// Adds the entries of another sketch from a place on.
void append(Sketch& sketch, const Sketch& other, std::size_t from) {
    const auto begin = static_cast<std::ptrdiff_t>(from);
    sketch.values.insert(sketch.values.end(), other.values.begin() + begin, other.values.end());
    sketch.weights.insert(sketch.weights.end(), other.weights.begin() + begin, other.weights.end());
}

/// Zeros get the weight that the other rows leave, so that it does not matter whether they are stored.
Sketch block_sketch(const BlockColumn& column, std::span<const double> weights, const BlockWeight& all) {
    Sketch out;
    reserve(out, column.keys.size() + 1);
    const auto end_group = [&](float value, double weight) {
        out.values.push_back(value);
        out.weights.push_back(weight);
    };
    const bool has_zeros = column.n_rows < all.n_rows;
    const auto& keys = column.keys;
    const auto positive = std::ranges::lower_bound(keys, sort_key(0.0F, 0));
    const auto add = [&](auto from, auto to) {
        while (from != to) {
            const float value = value_of_key(*from);
            double weight = 0.0;
            for (; from != to && value_of_key(*from) == value; ++from) weight += weights[place_of(*from)];
            end_group(value, weight);
        }
    };
    add(keys.begin(), positive);
    if (has_zeros) end_group(0.0F, std::max(all.weight - column.weight, 0.0));
    add(positive, keys.end());
    return out;
}

/// The same of a column of bytes, whose weights are counted. Rows add up in the same order as if they were sorted.
struct ByteColumn {
    static constexpr std::size_t n_bytes = 256;
    std::array<double, n_bytes> weights{};
    std::array<bool, n_bytes> is_present{};
    double weight = 0.0;
    std::size_t n_rows = 0;

    void take(std::size_t x, double row_weight) {
        if (x == 0) return;
        ++n_rows;
        weight += row_weight;
        weights[x] += row_weight;
        is_present[x] = true;
    }
};

Sketch block_sketch(const ByteColumn& column, const BlockWeight& all) {
    Sketch out;
    if (column.n_rows < all.n_rows) {
        out.values.push_back(0.0F);
        out.weights.push_back(std::max(all.weight - column.weight, 0.0));
    }
    for (std::size_t x = 1; x < ByteColumn::n_bytes; ++x) {
        if (!column.is_present[x]) continue;
        out.values.push_back(static_cast<float>(x));
        out.weights.push_back(column.weights[x]);
    }
    return out;
}

/// Joins neighbours until at most sketch_size groups are left: two that follow each other weigh more than `most` together.
Sketch shortened(Sketch sketch) {
    if (sketch.values.size() <= sketch_size) return sketch;
    double total = 0.0;
    for (double weight : sketch.weights) total += weight;
    const double most = 2.0 * total / static_cast<double>(sketch_size);
    std::size_t n_groups = 0;
    double weight = 0.0, largest_rest = 0.0;
    for (std::size_t i = 0; i < sketch.values.size(); ++i) {
        const bool is_new = i == 0 || weight + sketch.weights[i] > most;
        if (!is_new) largest_rest = std::max(largest_rest, weight);  // ranks within the group are too low by that
        weight = is_new ? sketch.weights[i] : weight + sketch.weights[i];
        if (is_new) ++n_groups;
        sketch.values[n_groups - 1] = sketch.values[i];
        sketch.weights[n_groups - 1] = weight;
    }
    sketch.values.resize(n_groups);
    sketch.weights.resize(n_groups);
    sketch.rank_error += largest_rest;
    return sketch;
}

void take_value(BlockColumn& column, float x, double weight, std::size_t place) {
    if (x == 0.0F) return;
    ++column.n_rows;
    column.weight += weight;
    if (std::isnan(x)) return;
    if (std::isinf(x)) throw std::invalid_argument("a value is infinite; give finite numbers, or NaN for a missing one");
    column.keys.push_back(sort_key(x, place));
}

/// Columns first, ..., first + out.size() - 1 of row n.
template <DenseDesign D>
void take_row(const D& rows, std::span<const TableColumn> columns, std::size_t n, std::size_t first, double weight,
              std::size_t place, std::span<BlockColumn> out) {
    const auto* x = rows.begin(n);
    for (std::size_t j = 0; j < out.size(); ++j)
        if (columns[first + j].is_number()) take_value(out[j], columns[first + j].value(x), weight, place);
}
/// Every coordinate is a column.
template <SparseDesign D>
void take_row(const D& rows, std::span<const TableColumn>, std::size_t n, std::size_t first, double weight, std::size_t place,
              std::span<BlockColumn> out) {
    const auto columns = rows.columns(n);
    const auto entries = rows.entries(n);
    const auto begin = std::ranges::lower_bound(columns, static_cast<std::int32_t>(first));
    for (auto k = static_cast<std::size_t>(begin - columns.begin()); k < columns.size(); ++k) {
        const std::size_t j = static_cast<std::size_t>(columns[k]) - first;
        if (j >= out.size()) return;
        take_value(out[j], entries[k], weight, place);
    }
}

/// Columns that one walk over the rows reads: dense ones that lie in few lines of memory, sparse ones by the thousand, because
/// their entries have to be looked for.
template <Design D>
constexpr std::size_t columns_of_walk = is_sparse<D> ? 1024 : 4;

/// Sketches of the columns first, ..., first + out.size() - 1.
template <Design D>
void sketch_columns(const D& rows, std::span<const TableColumn> columns, std::span<const double> weights, std::size_t first,
                    std::span<Sketch> out) {
    std::vector<SketchStack> stacks(out.size());
    std::vector<BlockColumn> block(out.size());
    KeySorter sorter;
    for (std::size_t b = 0; b < count_table_blocks(rows.n_rows); ++b) {
        const RowRange range = rows_of_block(b, rows.n_rows);
        for (BlockColumn& column : block) {
            column.keys.clear();
            column.weight = 0.0;
            column.n_rows = 0;
        }
        for (std::size_t n = range.first; n < range.last; ++n) {
            check_stop_at(n);
            if (weights[n] > 0.0) take_row(rows, columns, n, first, weights[n], n - range.first, std::span(block));
        }
        const auto weights_here = weights.subspan(range.first, range.size());
        const BlockWeight all = weight_of(weights_here);
        for (std::size_t j = 0; j < out.size(); ++j) {
            sorter.sort(block[j].keys);
            stacks[j].add(shortened(block_sketch(block[j], weights_here, all)));
        }
    }
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = stacks[j].total();
}

/// The same for columns of bytes that have no flags.
void sketch_bytes(const ByteRows& rows, std::span<const TableColumn> columns, std::span<const double> weights,
                  std::span<Sketch> out) {
    std::vector<SketchStack> stacks(out.size());
    for (std::size_t b = 0; b < count_table_blocks(rows.n_rows); ++b) {
        const RowRange range = rows_of_block(b, rows.n_rows);
        std::vector<ByteColumn> block(out.size());
        for (std::size_t n = range.first; n < range.last; ++n) {
            check_stop_at(n);
            if (!(weights[n] > 0.0)) continue;
            for (std::size_t j = 0; j < out.size(); ++j) block[j].take(rows.begin(n)[columns[j].first], weights[n]);
        }
        const BlockWeight all = weight_of(weights.subspan(range.first, range.size()));
        for (std::size_t j = 0; j < out.size(); ++j) stacks[j].add(block_sketch(block[j], all));
    }
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = stacks[j].total();
}

}  // namespace

Sketch merged(const Sketch& a, const Sketch& b) {
    Sketch out;
    out.rank_error = a.rank_error + b.rank_error;
    std::size_t i = 0, j = 0;
    reserve(out, a.values.size() + b.values.size());
    while (i < a.values.size() && j < b.values.size()) {  // without jumps, which no processor could foresee
        const float x = a.values[i], y = b.values[j];
        out.values.push_back(std::min(x, y));
        out.weights.push_back(static_cast<double>(x <= y) * a.weights[i] + static_cast<double>(y <= x) * b.weights[j]);
        i += static_cast<std::size_t>(x <= y);
        j += static_cast<std::size_t>(y <= x);
    }
    append(out, a, i);
    append(out, b, j);
    return shortened(std::move(out));
}

void SketchStack::add(Sketch block) {
    levels_.push_back({0, std::move(block)});
    while (levels_.size() > 1 && levels_[levels_.size() - 2].height == levels_.back().height) {
        const Level last = std::move(levels_.back());
        levels_.pop_back();
        levels_.back() = {last.height + 1, merged(levels_.back().sketch, last.sketch)};
    }
}

Sketch SketchStack::total() {
    Sketch out;
    for (; !levels_.empty(); levels_.pop_back()) out = merged(levels_.back().sketch, out);
    return out;
}

template <Design D>
std::vector<Sketch> column_sketches(const D& rows, std::span<const TableColumn> columns, std::span<const double> weights,
                                    std::size_t n_threads) {
    std::vector<Sketch> out(columns.size());
    constexpr std::size_t width = columns_of_walk<D>;
    parallel_for((out.size() + width - 1) / width, n_threads, [&](std::size_t task) {
        const std::size_t first = task * width;
        if constexpr (is_bytes<D>) {
            const auto here = columns.subspan(first, std::min(width, out.size() - first));
            if (std::ranges::all_of(here, [](const TableColumn& c) { return c.is_number() && c.flag == TableColumn::no_flag; })) {
                sketch_bytes(rows, here, weights, std::span(out).subspan(first, here.size()));
                return;
            }
        }
        sketch_columns(rows, columns, weights, first, std::span(out).subspan(first, std::min(width, out.size() - first)));
    });
    return out;
}

#define SPINNEY_INSTANTIATE(D) \
    template std::vector<Sketch> column_sketches<D>(const D&, std::span<const TableColumn>, std::span<const double>, std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
