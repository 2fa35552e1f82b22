#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"
#include "spinney/table/codes.hpp"

namespace spinney::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float tiny = std::numeric_limits<float>::denorm_min();

std::vector<double> ones(std::size_t n) { return std::vector<double>(n, 1.0); }

template <Design D>
Edges edges_of(const D& rows, std::size_t n_bins = max_bins, std::size_t n_threads = 1) {
    const auto weights = ones(rows.n_rows);
    return find_edges(column_sketches(rows, weights, n_threads), std::vector<std::uint8_t>(rows.n_features), n_bins);
}

std::uint8_t code_at(const Codes& codes, std::size_t row, std::size_t column) {
    for (const ColumnGroup& group : codes.groups())
        if (column >= group.first && column < group.first + group.width)
            return group.codes[row * group.width + column - group.first];
    fail("the column is in no group", std::source_location::current());
    return 0;
}

std::vector<std::uint8_t> all_codes(const Codes& codes) {
    std::vector<std::uint8_t> out;
    for (std::size_t n = 0; n < codes.n_rows(); ++n)
        for (std::size_t j = 0; j < codes.n_columns(); ++j) out.push_back(code_at(codes, n, j));
    return out;
}

bool is_equal(const Sketch& a, const Sketch& b) {
    return a.values == b.values && a.weights == b.weights && a.rank_error == b.rank_error;
}

double rank_of(const Sketch& sketch, float v) {
    double rank = 0.0;
    for (std::size_t i = 0; i < sketch.values.size() && sketch.values[i] <= v; ++i) rank += sketch.weights[i];
    return rank;
}

void few_values_get_a_bin_each() {
    const Matrix x({3.0F, -1.0F, 3.0F, nan, 0.0F, -0.0F, 7.0F}, 7, 1);
    const Edges edges = edges_of(x.dense());
    expect_equal(edges.thresholds, std::vector<float>{-0.5F, 1.5F, 5.0F}, "thresholds lie halfway");
    expect_equal(all_codes(code_rows(x.dense(), edges, 1)), std::vector<std::uint8_t>{2, 0, 2, missing_code, 1, 1, 3}, "codes");
}

void neighbouring_floats_are_parted() {
    const float top = std::numeric_limits<float>::max();
    const std::vector<float> values{-top, -1.0F, -tiny, 0.0F, tiny, 1.0F, std::nextafter(1.0F, 2.0F), top};
    const Matrix x(values, values.size(), 1);
    const Codes codes = code_rows(x.dense(), edges_of(x.dense()), 1);
    for (std::size_t n = 0; n < values.size(); ++n) expect_equal(std::size_t{code_at(codes, n, 0)}, n, "a code each");
}

void code_and_threshold_agree_for_any_float() {
    Random random(1);
    const Matrix x = random_matrix(2000, 3, 0.9, 5);
    const Edges edges = edges_of(x.dense(), 40);
    std::vector<float> others;
    for (std::size_t i = 0; i < 3000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random.next());
        const auto any = std::bit_cast<float>(bits);
        const float edge = edges.thresholds[i % edges.thresholds.size()];
        const float near = std::nextafter(edge, i % 2 == 0 ? -INFINITY : INFINITY);
        others.push_back(i % 3 == 0 && std::isfinite(any) ? any : (i % 3 == 1 ? edge : near));
    }
    const Matrix y(others, 1000, 3);
    const Codes codes = code_rows(y.dense(), edges, 1);
    for (std::size_t n = 0; n < 1000; ++n)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < edges.of(j).size(); ++k)
                expect_equal(code_at(codes, n, j) <= k, y.values[n * 3 + j] <= edges.of(j)[k], "code <= k where x <= edge");
}

void infinities_and_odd_levels_are_refused() {
    const Matrix x({1.0F, INFINITY}, 2, 1);
    expect_throw<std::invalid_argument>([&] { (void)edges_of(x.dense()); }, "in a sketch");
    const Matrix y({1.0F, 2.0F}, 2, 1);
    const Edges edges = edges_of(y.dense());
    expect_throw<std::invalid_argument>([&] { (void)code_rows(x.dense(), edges, 1); }, "in rows to be coded");
    const Edges levels = find_edges(column_sketches(y.dense(), ones(2), 1), std::vector<std::uint8_t>{3}, max_bins);
    expect_equal(all_codes(code_rows(y.dense(), levels, 1)), std::vector<std::uint8_t>{1, 2}, "levels keep their numbers");
    for (float odd : {3.0F, -1.0F, 0.5F}) {
        const Matrix z({odd}, 1, 1);
        expect_throw<std::invalid_argument>([&] { (void)code_rows(z.dense(), levels, 1); }, "no level");
    }
    for (std::size_t n_bins : {1U, 256U})
        expect_throw<std::invalid_argument>([&] { (void)edges_of(y.dense(), n_bins); }, "a number of bins");
}

void storage_and_threads_change_nothing() {
    const std::size_t n = 2 * table_block + 77;
    for (double density : {0.05, 0.9}) {
        const Matrix x = random_matrix(n, 11, density, 3);
        const auto weights = random_weights(n, 8);
        const auto dense = column_sketches(x.dense(), weights, 1);
        const auto sparse = column_sketches(x.sparse(), weights, 1);
        const auto shared = column_sketches(x.dense(), weights, 3);
        for (std::size_t j = 0; j < 11; ++j) {
            expect(is_equal(dense[j], sparse[j]), "sketches of sparse rows");
            expect(is_equal(dense[j], shared[j]), "sketches by three threads");
        }
        const Edges edges = find_edges(dense, std::vector<std::uint8_t>(11), max_bins);
        const auto codes = all_codes(code_rows(x.dense(), edges, 1));
        expect_equal(codes, all_codes(code_rows(x.sparse(), edges, 1)), "codes of sparse rows");
        expect_equal(codes, all_codes(code_rows(x.dense(), edges, 3)), "codes by three threads");
    }
}

void sketches_are_the_merged_ones_of_their_blocks() {
    const std::size_t n = 5 * table_block + 100;
    const Matrix x = random_matrix(n, 1, 1.0, 4);
    const auto weights = random_weights(n, 2);
    SketchStack stack;
    for (std::size_t b = 0; b < count_table_blocks(n); ++b) {
        const RowRange range = rows_of_block(b, n);
        const DenseRows block{x.values.data() + range.first, range.size(), 1};
        stack.add(column_sketches(block, std::span(weights).subspan(range.first, range.size()), 1)[0]);
    }
    expect(is_equal(stack.total(), column_sketches(x.dense(), weights, 1)[0]), "a block may come from anywhere");
}

void ranks_are_off_by_no_more_than_said() {
    const std::size_t n = 8 * table_block;
    const Matrix x = random_matrix(n, 1, 1.0, 6);
    const auto weights = random_weights(n, 7);
    double total = 0.0;
    for (double weight : weights) total += weight;
    const Sketch sketch = column_sketches(x.dense(), weights, 1)[0];
    expect(sketch.values.size() <= sketch_size, "the size is bounded");
    expect(sketch.rank_error <= 2.0 * 4.0 / static_cast<double>(sketch_size) * total, "the bound of eight blocks");
    expect(sketch.rank_error > 0.0, "there are more values than entries");
    for (float v = -2.0F; v <= 3.0F; v += 0.0625F) {
        double rank = 0.0;
        for (std::size_t i = 0; i < n; ++i) rank += x.values[i] <= v ? weights[i] : 0.0;
        const double found = rank_of(sketch, v);
        expect(found <= rank + 1e-9 * total, "never too high");
        expect(rank <= found + sketch.rank_error + 1e-9 * total, "never too low by more than the error");
    }
}

void bins_of_many_values_weigh_alike() {
    const std::size_t n = 3 * table_block;
    const Matrix x = random_matrix(n, 1, 1.0, 9);
    const Edges edges = edges_of(x.dense());
    expect_equal(edges.n_bins(0), max_bins, "all bins are used");
    std::vector<double> weight(max_bins);
    const Codes codes = code_rows(x.dense(), edges, 1);
    for (std::size_t i = 0; i < n; ++i) weight[code_at(codes, i, 0)] += 1.0;
    const double share = static_cast<double>(n) / static_cast<double>(max_bins);
    expect(*std::ranges::max_element(weight) <= 1.5 * share, "no bin is heavy");
    expect(*std::ranges::min_element(weight) >= 0.5 * share, "no bin is light");
}

void exact_sketches_do_not_depend_on_the_cut() {
    const Matrix x = tied_matrix(600, 1, 3);
    const auto weights = ones(600);
    const Sketch whole = column_sketches(x.dense(), weights, 1)[0];
    for (std::size_t cut : {1U, 100U, 599U}) {
        const DenseRows first{x.values.data(), cut, 1};
        const DenseRows second{x.values.data() + cut, 600 - cut, 1};
        const auto a = column_sketches(first, std::span(weights).first(cut), 1)[0];
        const auto b = column_sketches(second, std::span(weights).subspan(cut), 1)[0];
        expect(is_equal(merged(a, b), whole), "two parts");
        expect(is_equal(merged(b, a), whole), "in the other order");
    }
}

void empty_columns_have_one_bin() {
    const Matrix x({nan, nan}, 2, 1);
    const Edges edges = edges_of(x.dense());
    expect_equal(edges.n_bins(0), std::size_t{1}, "one bin");
    expect_equal(all_codes(code_rows(x.dense(), edges, 1)), std::vector<std::uint8_t>{missing_code, missing_code}, "all missing");
}

void coding_hears_an_interrupt() {
    const Matrix x = random_matrix(3 * table_block, 2, 1.0, 1);
    const Edges edges = edges_of(x.dense());
    const Interruptible scope([] { return true; });
    expect_throw<Interrupted>([&] { (void)code_rows(x.dense(), edges, 1); }, "codes");
    expect_throw<Interrupted>([&] { (void)column_sketches(x.dense(), ones(x.n_rows), 1); }, "sketches");
}

}  // namespace

std::vector<Test> codes_tests() {
    return {{"few values get a bin each", few_values_get_a_bin_each},
            {"neighbouring floats are parted", neighbouring_floats_are_parted},
            {"code and threshold agree for any float", code_and_threshold_agree_for_any_float},
            {"infinities and odd levels are refused", infinities_and_odd_levels_are_refused},
            {"storage and threads do not change codes", storage_and_threads_change_nothing},
            {"sketches are the merged ones of their blocks", sketches_are_the_merged_ones_of_their_blocks},
            {"ranks are off by no more than said", ranks_are_off_by_no_more_than_said},
            {"bins of many values weigh alike", bins_of_many_values_weigh_alike},
            {"exact sketches do not depend on the cut", exact_sketches_do_not_depend_on_the_cut},
            {"empty columns have one bin", empty_columns_have_one_bin},
            {"coding hears an interrupt", coding_hears_an_interrupt}};
}

}  // namespace spinney::test
