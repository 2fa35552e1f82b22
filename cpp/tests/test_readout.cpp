#include "spinney/readout.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "trees.hpp"

namespace spinney::test {
namespace {

constexpr std::size_t n_features = 5;
constexpr std::size_t n_outputs = 3;
constexpr std::size_t n_rows = 70;
constexpr std::size_t depth = 4;

/// Two complete trees of constant leaves.
struct SmallForest {
    std::vector<RandomTree> trees{RandomTree(depth, n_features, 1.0), RandomTree(depth, n_features, 0.4)};
    std::vector<double> values;
    std::vector<std::int64_t> indptr = std::vector<std::int64_t>(n_outputs * (std::size_t{1} << depth) + 1, 0);
    std::vector<ForestTree> views;

    SmallForest() {
        Random random(3, 4);
        for (std::size_t i = 0; i + 1 < indptr.size(); ++i) values.push_back(random.normal());
        for (const RandomTree& tree : trees) views.push_back({tree.view(), {values, indptr, {}, {}, n_outputs}, false});
    }
};

std::vector<float> random_rows() {
    Random random(8, 9);
    std::vector<float> x(n_rows * n_features);
    for (float& value : x) value = static_cast<float>(random.normal());
    return x;
}

void totals_are_weighted_sums_and_offsets() {
    const SmallForest small;
    const Forest forest(small.views, n_features, n_outputs);
    const auto x = random_rows();
    const DenseRows rows{x.data(), n_rows, n_features};
    const std::vector<double> weights{0.5, 2.0};
    const std::vector<double> offsets{1.0, -1.0, 0.25};
    std::vector<double> wanted(n_rows * n_outputs);
    forest.sums(rows, weights, false, 1, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += offsets[i % n_outputs];

    const Readout readout(forest, Says::outputs, weights, offsets);
    std::vector<double> found(wanted.size());
    readout.totals(rows, 2, found);
    expect_equal(found, wanted, "totals");
    std::vector<std::int32_t> best(n_rows);
    readout.largest(rows, 1, best);
    for (std::size_t r = 0; r < n_rows; ++r) {
        const auto of_row = std::span(wanted).subspan(r * n_outputs, n_outputs);
        expect(std::ranges::max(of_row) == of_row[static_cast<std::size_t>(best[r])], "largest total");
    }
}

void sizes_that_do_not_fit_are_refused() {
    const SmallForest small;
    const Forest forest(small.views, n_features, n_outputs);
    using Error = std::invalid_argument;
    expect_throw<Error>([&] { Readout(forest, Says::label, {1.0}, {0.0, 0.0, 0.0}); }, "a weight too few");
    expect_throw<Error>([&] { Readout(forest, Says::label, {1.0, 1.0}, {0.0}); }, "offsets too few");
}

}  // namespace

std::vector<Test> readout_tests() {
    return {{"totals are weighted sums and offsets", totals_are_weighted_sums_and_offsets},
            {"sizes that do not fit are refused", sizes_that_do_not_fit_are_refused}};
}

}  // namespace spinney::test
