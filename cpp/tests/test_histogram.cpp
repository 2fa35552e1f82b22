#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"
#include "spinney/table/split.hpp"

namespace spinney::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A coded table with missing values, and what is summed over its rows.
struct Fixture {
    std::size_t n_rows, n_columns;
    Matrix x;
    Codes codes;
    std::vector<GradientPair> pairs;
    std::vector<std::int32_t> labels;
    std::vector<double> weights;

    Fixture(std::size_t n, std::size_t d, std::uint64_t seed = 1)
        : n_rows(n), n_columns(d), x(with_holes(n, d, seed)), codes(coded(x)), weights(random_weights(n, seed)) {
        Random random(seed, 9);
        for (std::size_t i = 0; i < n; ++i) {
            pairs.push_back({static_cast<float>(random.normal()), static_cast<float>(random.uniform())});
            labels.push_back(static_cast<std::int32_t>(random.below(3)));
        }
    }

  private:
    /// The first column is a flag, every seventh value is missing.
    static Matrix with_holes(std::size_t n, std::size_t d, std::uint64_t seed) {
        Matrix x = random_matrix(n, d, 0.8, seed);
        for (std::size_t i = 0; i < x.values.size(); ++i) {
            if (i % d == 0) x.values[i] = x.values[i] > 0.5F ? 1.0F : 0.0F;
            if (i % 7 == 3) x.values[i] = nan;
        }
        return x;
    }
    static Codes coded(const Matrix& x) {
        const std::vector<double> ones(x.n_rows, 1.0);
        const auto sketches = column_sketches(x.dense(), ones, 1);
        return code_rows(x.dense(), find_edges(sketches, std::vector<std::uint8_t>(x.n_features), max_bins), 1);
    }
};

/// Every `step`-th row from `first` on, without the blocks in between: some have many rows, some few, some none.
std::vector<std::uint32_t> some_rows(std::size_t n, std::uint32_t first, std::uint32_t step) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = first; i < n; i += i / table_block % 2 == 0 ? step : 40 * step)
        if (i / table_block != 2) rows.push_back(i);
    return rows;
}

std::vector<std::uint32_t> numbers_of(const Fixture& f, const NodeRows& rows) {
    return rows ? std::vector<std::uint32_t>(rows->begin(), rows->end()) : all_rows(f.n_rows);
}

/// Bin by bin, block by block.
std::vector<GradientSum> slow_histogram(const Fixture& f, const NodeRows& rows) {
    const auto begin = histogram_begin(f.codes);
    std::vector<GradientSum> out(begin.back());
    const auto numbers = numbers_of(f, rows);
    for (std::size_t b = 0; b < count_table_blocks(f.n_rows); ++b) {
        const RowRange range = rows_of_block(b, f.n_rows);
        std::vector<GradientSum> block(begin.back());
        for (std::uint32_t n : numbers) {
            if (n < range.first || n >= range.last) continue;
            for (const ColumnGroup& group : f.codes.groups())
                for (std::size_t k = 0; k < group.width; ++k) {
                    const std::size_t j = group.first + k;
                    const std::uint8_t code = group.codes[n * group.width + k];
                    const std::size_t bin = code == missing_code ? begin[j + 1] - 1 : begin[j] + code;
                    block[bin] += {static_cast<double>(f.pairs[n].gradient), static_cast<double>(f.pairs[n].hessian)};
                }
        }
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += block[i];
    }
    return out;
}

void histograms_are_sums_over_blocks() {
    for (std::size_t d : {1U, 3U, 8U, 9U, 21U}) {
        const Fixture f(3 * table_block + 50, d, d);
        const auto rows = some_rows(f.n_rows, 3, 5);
        const auto few = some_rows(f.n_rows, 5, 900);
        for (const NodeRows& node : {NodeRows{}, NodeRows{rows}, NodeRows{few}})
            for (std::size_t n_threads : {1U, 2U, 3U, 8U})
                expect(gradient_histogram(f.codes, f.pairs, node, n_threads) == slow_histogram(f, node), "bit for bit");
    }
}

void a_block_may_lie_elsewhere() {
    const Fixture f(3 * table_block + 50, 9);
    const std::vector<double> ones(f.n_rows, 1.0);
    const Edges edges = find_edges(column_sketches(f.x.dense(), ones, 1), std::vector<std::uint8_t>(9), max_bins);
    const auto rows = some_rows(f.n_rows, 3, 7);
    std::vector<GradientSum> sums(histogram_begin(f.codes).back());
    for (std::size_t b = 0; b < count_table_blocks(f.n_rows); ++b) {
        const RowRange range = rows_of_block(b, f.n_rows);
        const Codes codes = code_rows(DenseRows{f.x.values.data() + range.first * 9, range.size(), 9}, edges, 1);
        std::vector<std::uint32_t> here;
        for (std::uint32_t n : rows)
            if (n >= range.first && n < range.last) here.push_back(n - static_cast<std::uint32_t>(range.first));
        const auto pairs = std::span(f.pairs).subspan(range.first, range.size());
        const auto block = gradient_histogram(codes, pairs, NodeRows{here}, 1);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += block[i];
    }
    expect(sums == gradient_histogram(f.codes, f.pairs, NodeRows{rows}, 1), "sums of blocks by themselves, added in order");
}

void a_node_without_rows_is_empty() {
    const Fixture f(100, 2);
    const std::vector<std::uint32_t> none;
    for (const GradientSum& sum : gradient_histogram(f.codes, f.pairs, NodeRows{none}, 1))
        expect(sum == GradientSum{}, "all bins are 0");
}

void labels_and_counts_agree() {
    const Fixture f(2 * table_block + 9, 5);
    const std::vector<double> ones(f.n_rows, 1.0);
    const auto rows = some_rows(f.n_rows, 1, 3);
    for (const NodeRows& node : {NodeRows{}, NodeRows{rows}}) {
        const auto counts = count_histogram(f.codes, node, 2);
        const auto labels = label_histogram(f.codes, f.labels, ones, 3, node, 2);
        for (std::size_t i = 0; i < counts.size(); ++i)
            expect_equal(labels[3 * i] + labels[3 * i + 1] + labels[3 * i + 2], static_cast<double>(counts[i]), "rows of a bin");
        const auto weighted = label_histogram(f.codes, f.labels, f.weights, 3, node, 1);
        expect(weighted == label_histogram(f.codes, f.labels, f.weights, 3, node, 3), "threads change no bit");
        double total = 0.0, wanted = 0.0;
        for (std::uint32_t n : numbers_of(f, node)) wanted += f.labels[n] == 1 ? f.weights[n] : 0.0;
        const auto begin = histogram_begin(f.codes);
        for (std::size_t i = begin[4]; i < begin[5]; ++i) total += weighted[3 * i + 1];
        expect_near(total, wanted, 1e-9 * wanted, "weight of a class");
    }
}

void siblings_are_what_is_left() {
    Fixture f(2 * table_block + 500, 6);
    const auto rows = some_rows(f.n_rows, 0, 3);
    std::vector<std::uint32_t> left, right;
    for (std::uint32_t n : rows) (f.x.values[n * 6 + 1] > 0.3F ? right : left).push_back(n);

    auto counts = count_histogram(f.codes, NodeRows{rows}, 1);
    subtract<std::uint32_t>(counts, count_histogram(f.codes, NodeRows{left}, 1));
    expect_equal(counts, count_histogram(f.codes, NodeRows{right}, 1), "counts are exact");

    auto sums = gradient_histogram(f.codes, f.pairs, NodeRows{rows}, 1);
    subtract<GradientSum>(sums, gradient_histogram(f.codes, f.pairs, NodeRows{left}, 1));
    const auto wanted = gradient_histogram(f.codes, f.pairs, NodeRows{right}, 1);
    for (std::size_t i = 0; i < sums.size(); ++i) expect_near(sums[i].gradient, wanted[i].gradient, 1e-9, "doubles are close");

    round_to_grid(f.pairs);
    sums = gradient_histogram(f.codes, f.pairs, NodeRows{rows}, 1);
    subtract<GradientSum>(sums, gradient_histogram(f.codes, f.pairs, NodeRows{left}, 1));
    expect(sums == gradient_histogram(f.codes, f.pairs, NodeRows{right}, 1), "on a grid they are exact");
}

void the_grid_keeps_24_bits_of_the_largest() {
    std::vector<GradientPair> pairs{{1.0F, 0.25F}, {-0.3F, 0.1F}, {1e-3F, 0.0F}, {-1e-12F, 0.2F}};
    const auto before = pairs;
    round_to_grid(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        expect_near(static_cast<double>(pairs[i].gradient), static_cast<double>(before[i].gradient), 0x1p-24, "half a unit");
        expect_near(static_cast<double>(pairs[i].hessian), static_cast<double>(before[i].hessian), 0x1p-26, "half a unit");
        const double units = std::ldexp(static_cast<double>(pairs[i].gradient), 23);
        expect_equal(units, std::nearbyint(units), "a whole number of units");
    }
    std::vector<GradientPair> zeros{{0.0F, 0.0F}};
    round_to_grid(zeros);
    expect_equal(zeros[0].gradient, 0.0F, "zeros stay");
    std::vector<GradientPair> odd{{INFINITY, 0.0F}};
    expect_throw<std::invalid_argument>([&] { round_to_grid(odd); }, "infinite");
}

void odd_row_numbers_are_refused() {
    for (const std::vector<std::uint32_t>& odd : {std::vector<std::uint32_t>{5}, {2, 1}, {1, 1}})
        expect_throw<std::invalid_argument>([&] { check_node_rows(NodeRows{odd}, 5); }, "rows");
    const std::vector<std::uint32_t> good{0, 4};
    check_node_rows(NodeRows{good}, 5);
    check_node_rows(NodeRows{}, 5);
}

void cuts_send_missing_rows_where_it_gains() {
    const std::vector<GradientSum> bins{{-4.0, 2.0}, {0.0, 0.0}, {3.0, 2.0}, {-5.0, 2.0}};  // the last is missing
    const std::vector<std::uint32_t> counts{2, 0, 2, 2};
    const ColumnCut cut = best_cut(bins, counts, {1.0, 0.0, 1});
    expect_equal(cut.bin, std::size_t{0}, "the first of equal cuts");
    expect(cut.is_missing_left, "with the rows like them");
    expect_equal(cut.n_left, std::uint64_t{4}, "rows on the left");
    expect_near(cut.gain, 81.0 / 5.0 + 9.0 / 3.0 - 36.0 / 7.0, 1e-12, "gain");
    expect_equal(best_cut(bins, counts, {1.0, 0.0, 3}).gain, 0.0, "no side has three rows at both ends");
    expect_equal(best_cut(bins, counts, {1.0, 2.5, 1}).gain, 0.0, "hessian of the smaller side");
}

void missing_rows_alone_can_be_a_side() {
    const std::vector<GradientSum> bins{{-4.0, 2.0}, {5.0, 2.0}};
    const std::vector<std::uint32_t> counts{3, 2};
    const ColumnCut cut = best_cut(bins, counts, {});
    expect(cut.gain > 0.0 && cut.bin == 0 && !cut.is_missing_left, "all others go left");
    expect_equal(best_cut(bins, std::vector<std::uint32_t>{5, 0}, {}).gain, 0.0, "one bin alone is not cut");
}

void histograms_hear_an_interrupt() {
    const Fixture f(3 * table_block, 4);
    const Interruptible scope([] { return true; });
    expect_throw<Interrupted>([&] { (void)gradient_histogram(f.codes, f.pairs, NodeRows{}, 1); }, "gradients");
}

}  // namespace

std::vector<Test> histogram_tests() {
    return {{"histograms are sums over blocks for any threads", histograms_are_sums_over_blocks},
            {"a block may lie elsewhere", a_block_may_lie_elsewhere},
            {"a node without rows is empty", a_node_without_rows_is_empty},
            {"labels and counts agree", labels_and_counts_agree},
            {"siblings are what is left", siblings_are_what_is_left},
            {"the grid keeps 24 bits of the largest", the_grid_keeps_24_bits_of_the_largest},
            {"odd row numbers are refused", odd_row_numbers_are_refused},
            {"cuts send missing rows where it gains", cuts_send_missing_rows_where_it_gains},
            {"missing rows alone can be a side", missing_rows_alone_can_be_a_side},
            {"histograms hear an interrupt", histograms_hear_an_interrupt}};
}

}  // namespace spinney::test
