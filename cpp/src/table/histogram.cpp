#include "spinney/table/histogram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {
namespace {

constexpr std::size_t n_codes = 256;
/// How many rows ahead of its use a row of a node is asked for: their places cannot be guessed.
constexpr std::size_t rows_ahead = 16;

// What is summed, by the place i of a row among those that are visited: value(i), added to number offset(i) of the
// `per_bin` numbers of its bin.

struct PairEntries {
    using Sum = GradientSum;
    static constexpr std::size_t per_bin = 1;
    const GradientPair* pairs;
    [[nodiscard]] Sum value(std::size_t i) const {
        return {static_cast<double>(pairs[i].gradient), static_cast<double>(pairs[i].hessian)};
    }
    [[nodiscard]] static std::size_t offset(std::size_t) { return 0; }
};
struct LabelEntries {
    using Sum = double;
    const std::int32_t* labels;
    const double* weights;
    std::size_t per_bin;  ///< number of classes
    [[nodiscard]] Sum value(std::size_t i) const { return weights[i]; }
    [[nodiscard]] std::size_t offset(std::size_t i) const { return static_cast<std::size_t>(labels[i]); }
};
struct PullEntries {
    using Sum = Pull;
    static constexpr std::size_t per_bin = 1;
    const std::int8_t* labels;
    const double* weights;
    [[nodiscard]] Sum value(std::size_t i) const { return {labels[i] < 0 ? weights[i] : 0.0, labels[i] > 0 ? weights[i] : 0.0}; }
    [[nodiscard]] static std::size_t offset(std::size_t) { return 0; }
};
struct CountEntries {
    using Sum = std::uint32_t;
    static constexpr std::size_t per_bin = 1;
    [[nodiscard]] static Sum value(std::size_t) { return 1; }
    [[nodiscard]] static std::size_t offset(std::size_t) { return 0; }
};

// Rows that are visited: place -> number.

struct EveryRow {
    std::size_t n_rows;
    [[nodiscard]] std::size_t size() const { return n_rows; }
    [[nodiscard]] std::size_t operator[](std::size_t i) const { return i; }
    void prefetch(std::size_t, const std::uint8_t*, std::size_t) const {}
    /// Place behind the last row below `row`.
    [[nodiscard]] std::size_t end_below(std::size_t, std::size_t row) const { return std::min(row, n_rows); }
};
/// Rows of a block before those of the next one.
struct ListedRows {
    std::span<const std::uint32_t> rows;
    [[nodiscard]] std::size_t size() const { return rows.size(); }
    [[nodiscard]] std::size_t operator[](std::size_t i) const { return rows[i]; }
    void prefetch(std::size_t i, const std::uint8_t* codes, std::size_t stride) const {
        if (i + rows_ahead < rows.size()) __builtin_prefetch(codes + rows[i + rows_ahead] * stride, 0, 3);
    }
    [[nodiscard]] std::size_t end_below(std::size_t from, std::size_t row) const {
        if (rows.back() < row) return rows.size();
        const auto rest = rows.subspan(from);
        const auto end = std::ranges::partition_point(rest, [&](std::uint32_t r) { return r < row; });
        return from + static_cast<std::size_t>(end - rest.begin());
    }
};

/// Neighbouring columns that are summed in one pass, all of one group.
struct Pass {
    const std::uint8_t* codes;  ///< of the first of them in row 0
    std::size_t stride, first, width;
};

/// Passes for so many threads: groups are cut in two or four where threads could not share them evenly.
std::vector<Pass> passes_for(const Codes& codes, std::size_t n_threads) {
    std::size_t n_parts = 1;
    const std::size_t n_groups = codes.groups().size();
    while (n_parts < 4 && n_threads > 1 && n_groups * n_parts % n_threads != 0 && n_groups * n_parts < 8 * n_threads)
        n_parts *= 2;
    std::vector<Pass> out;
    for (const ColumnGroup& group : codes.groups())
        for (std::size_t part = 0; part < n_parts; ++part) {
            const std::size_t begin = part * group.width / n_parts;
            const std::size_t end = (part + 1) * group.width / n_parts;
            if (begin < end) out.push_back({group.codes + begin, group.width, group.first + begin, end - begin});
        }
    return out;
}

/// Passes over some of the columns.
std::vector<Pass> passes_over(const Codes& codes, std::span<const std::uint8_t> wanted, std::size_t n_threads) {
    std::vector<Pass> out;
    for (const Pass& pass : passes_for(codes, n_threads))
        for (std::size_t k = 0; k < pass.width;) {
            const std::size_t begin = k;
            while (k < pass.width && wanted[pass.first + k] != 0) ++k;
            if (begin < k) out.push_back({pass.codes + begin, pass.stride, pass.first + begin, k - begin});
            if (begin == k) ++k;
        }
    return out;
}

/// Sums of one pass: those of a block, in a place for any code, and those of the blocks before.
template <class Entries, class Rows>
class PassSums {
  public:
    using Sum = Entries::Sum;
    PassSums(const Pass& pass, const Entries& entries, const Rows& rows, std::span<const std::size_t> begin, std::span<Sum> out)
        : pass_(pass), entries_(entries), rows_(rows), out_(out), stride_(n_codes * entries.per_bin + gap),
          block_(stride_ * pass.width) {
        for (std::size_t k = 0; k < pass.width; ++k) {
            first_bin_[k] = begin[pass.first + k];
            n_bins_[k] = begin[pass.first + k + 1] - first_bin_[k] - 1;
        }
    }

    void add_blocks(std::size_t n_blocks) {
        std::size_t from = 0;
        for (std::size_t b = 0; b < n_blocks && from < rows_.size(); ++b) {
            const std::size_t to = rows_.end_below(from, (b + 1) * table_block);
            add_block(from, to);
            check_stop_after(to - from);
            from = to;
        }
    }

  private:
    /// Columns with few bins would otherwise ask for one and the same set of the cache.
    static constexpr std::size_t gap = 4;

    void add_block(std::size_t from, std::size_t to) {
        constexpr auto widths = std::make_index_sequence<group_columns>();
        constexpr auto sum_rows = []<std::size_t... k>(std::index_sequence<k...>) {
            return std::array{&PassSums::template sum_rows<k + 1>...};
        }(widths);
        constexpr auto add_bins_of_rows = []<std::size_t... k>(std::index_sequence<k...>) {
            return std::array{&PassSums::template add_bins_of_rows<k + 1>...};
        }(widths);
        (this->*sum_rows[pass_.width - 1])(from, to);
        // Few rows leave most bins empty: their bins are looked up once more instead of adding all.
        if ((to - from) * 2 < n_codes * entries_.per_bin)
            (this->*add_bins_of_rows[pass_.width - 1])(from, to);
        else
            add_all_bins();
    }

    template <std::size_t width>
    void sum_rows(std::size_t from, std::size_t to) {
        Sum* sums = block_.data();
        for (std::size_t i = from; i < to; ++i) {
            rows_.prefetch(i, pass_.codes, pass_.stride);
            const std::uint8_t* codes = pass_.codes + rows_[i] * pass_.stride;
            const Sum value = entries_.value(i);
            const std::size_t offset = entries_.offset(i);
            for (std::size_t k = 0; k < width; ++k) sums[k * stride_ + codes[k] * entries_.per_bin + offset] += value;
        }
    }

    /// Moves a sum of the block to those of the blocks before.
    void move(std::size_t k, std::size_t code, std::size_t offset) {
        const std::size_t bin = first_bin_[k] + (code == missing_code ? n_bins_[k] : code);
        Sum& sum = block_[k * stride_ + code * entries_.per_bin + offset];
        out_[bin * entries_.per_bin + offset] += sum;
        sum = Sum{};
    }
    /// A bin of several rows is moved when its first one is met; then it is empty.
    template <std::size_t width>
    void add_bins_of_rows(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const std::uint8_t* codes = pass_.codes + rows_[i] * pass_.stride;
            const std::size_t offset = entries_.offset(i);
            for (std::size_t k = 0; k < width; ++k) move(k, codes[k], offset);
        }
    }
    void add_all_bins() {
        for (std::size_t k = 0; k < pass_.width; ++k) {
            Sum* const sums = block_.data() + k * stride_;
            Sum* const out = out_.data() + first_bin_[k] * entries_.per_bin;
            for (std::size_t i = 0; i < n_bins_[k] * entries_.per_bin; ++i) {
                out[i] += sums[i];
                sums[i] = Sum{};
            }
            for (std::size_t offset = 0; offset < entries_.per_bin; ++offset) move(k, missing_code, offset);
        }
    }

    Pass pass_;
    Entries entries_;
    Rows rows_;
    std::array<std::size_t, group_columns> first_bin_{}, n_bins_{};  ///< of each column, in the histogram
    std::span<Sum> out_;
    std::size_t stride_;
    std::vector<Sum> block_;
};

template <class Entries, class Rows>
void add_passes(const Codes& codes, std::span<const Pass> passes, const Entries& entries, const Rows& rows,
                std::span<typename Entries::Sum> out, std::size_t n_threads) {
    const auto begin = histogram_begin(codes);
    parallel_for(passes.size(), n_threads, [&](std::size_t p) {
        PassSums<Entries, Rows> sums(passes[p], entries, rows, begin, out);
        sums.add_blocks(count_table_blocks(codes.n_rows()));
    });
}

template <class Entries, class Rows>
std::vector<typename Entries::Sum> histogram(const Codes& codes, const Entries& entries, const Rows& rows,
                                             std::size_t n_threads) {
    std::vector<typename Entries::Sum> out(histogram_begin(codes).back() * entries.per_bin);
    add_passes(codes, passes_for(codes, n_threads), entries, rows, std::span(out), n_threads);
    return out;
}

/// Values of the rows of a node side by side, so that each pass over columns reads them in order.
template <class T>
std::vector<T> gathered(std::span<const T> values, std::span<const std::uint32_t> rows) {
    std::vector<T> out;
    out.reserve(rows.size());
    for (std::uint32_t row : rows) out.push_back(values[row]);
    return out;
}

}  // namespace

std::vector<std::size_t> histogram_begin(const Codes& codes) {
    std::vector<std::size_t> out{0};
    for (std::size_t n_bins : codes.n_bins()) out.push_back(out.back() + n_bins + 1);
    return out;
}

void check_node_rows(const NodeRows& rows, std::size_t n_rows) {
    if (!rows) return;
    for (std::size_t i = 0; i < rows->size(); ++i) {
        check_stop_at(i);
        if ((*rows)[i] >= n_rows || (i > 0 && (*rows)[i] <= (*rows)[i - 1]))
            throw std::invalid_argument("row " + std::to_string((*rows)[i]) + " is beyond the last one or out of order; give " +
                                        "ascending numbers below " + std::to_string(n_rows));
    }
}

std::vector<GradientSum> gradient_histogram(const Codes& codes, std::span<const GradientPair> pairs, const NodeRows& rows,
                                            std::size_t n_threads) {
    if (!rows) return histogram(codes, PairEntries{pairs.data()}, EveryRow{codes.n_rows()}, n_threads);
    const auto pairs_here = gathered(pairs, *rows);
    return histogram(codes, PairEntries{pairs_here.data()}, ListedRows{*rows}, n_threads);
}

std::vector<double> label_histogram(const Codes& codes, std::span<const std::int32_t> labels, std::span<const double> weights,
                                    std::size_t n_classes, const NodeRows& rows, std::size_t n_threads) {
    if (!rows)
        return histogram(codes, LabelEntries{labels.data(), weights.data(), n_classes}, EveryRow{codes.n_rows()}, n_threads);
    const auto labels_here = gathered(labels, *rows);
    const auto weights_here = gathered(weights, *rows);
    return histogram(codes, LabelEntries{labels_here.data(), weights_here.data(), n_classes}, ListedRows{*rows}, n_threads);
}

std::vector<Pull> pull_histogram(const Codes& codes, std::span<const std::uint8_t> wanted, std::span<const std::uint32_t> rows,
                                 std::span<const std::int8_t> labels, std::span<const double> weights, std::size_t n_threads) {
    std::vector<Pull> out(histogram_begin(codes).back());
    add_passes(codes, passes_over(codes, wanted, n_threads), PullEntries{labels.data(), weights.data()}, ListedRows{rows},
               std::span(out), n_threads);
    return out;
}

std::vector<std::uint32_t> count_histogram(const Codes& codes, const NodeRows& rows, std::size_t n_threads) {
    if (!rows) return histogram(codes, CountEntries{}, EveryRow{codes.n_rows()}, n_threads);
    return histogram(codes, CountEntries{}, ListedRows{*rows}, n_threads);
}

namespace {

/// Rounds one member of all pairs to multiples of a power of 2.
void round_member(std::span<GradientPair> pairs, float GradientPair::* member) {
    double largest = 0.0;
    for (const GradientPair& pair : pairs) {
        if (!std::isfinite(pair.*member)) throw std::invalid_argument("a gradient or hessian is not finite");
        largest = std::max(largest, std::fabs(static_cast<double>(pair.*member)));
    }
    if (largest == 0.0) return;
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    int row_bits = 0;                // pairs.size() <= 2^row_bits
    while ((std::size_t{1} << static_cast<unsigned>(row_bits)) < pairs.size()) ++row_bits;
    const int unit = exponent - std::min(24, 53 - row_bits);
    // Added to a number far below it, 1.5 * 2^(52 + unit) leaves no bits below the unit.
    const double shift = std::ldexp(1.5, 52 + unit);
    for (GradientPair& pair : pairs) pair.*member = static_cast<float>((static_cast<double>(pair.*member) + shift) - shift);
}

}  // namespace

void round_to_grid(std::span<GradientPair> pairs) {
    round_member(pairs, &GradientPair::gradient);
    round_member(pairs, &GradientPair::hessian);
}

}  // namespace spinney
