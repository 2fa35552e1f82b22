#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "check.hpp"
#include "data.hpp"
#include "grow/sides.hpp"
#include "spinney/grow/grower.hpp"

namespace spinney::test {
namespace {

constexpr std::size_t n_values = 2;

/// Targets of any kind; weights are whole numbers or not.
struct Task {
    std::vector<std::int32_t> classes;
    std::vector<double> values, weights;
    std::size_t n_classes;
    Task(std::size_t n, std::size_t k, bool has_whole_weights, std::uint64_t seed) : n_classes(k) {
        Random random(seed, 5);
        for (std::size_t i = 0; i < n; ++i) {
            classes.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(k))));
            weights.push_back(has_whole_weights ? 1.0 + random.below(3) : 0.1 + random.uniform());
            for (std::size_t o = 0; o < n_values; ++o) values.push_back(random.normal() + (random.below(40) == 0 ? 30.0 : 0.0));
        }
    }
    [[nodiscard]] Targets of(bool has_classes) const {
        if (has_classes) return {classes, {}, weights, n_classes};
        return {{}, values, weights, n_values};
    }
};

// --- bounds ----------------------------------------------------------------------------------------------------------

/// No set of the entries of a bin costs less, left of the cut with all bins before, than the bound.
template <class Sides>
void expect_bound_holds(Sides sides, const NodeTargets& node, Random& random) {
    std::vector<std::vector<std::size_t>> bins(1 + random.below(5));
    for (std::size_t i = 0; i < node.size(); ++i) bins[random.below(static_cast<std::uint32_t>(bins.size()))].push_back(i);
    std::erase_if(bins, [](const auto& bin) { return bin.empty(); });
    sides.start(nullptr);
    std::vector<double> left(sides.n_sums());
    for (const auto& bin : bins) {
        std::vector<double> sums(sides.n_sums());
        for (std::size_t i : bin) sides.adder().add(sums.data(), i);
        sides.save(left.data());
        Sides within = sides;
        const double bound = sides.step(sums.data());
        for (int draw = 0; draw < 200; ++draw) {
            within.start(left.data());
            const double chance = random.uniform();
            const auto only = static_cast<std::size_t>(random.below(4));  // all of one class is an extreme
            for (std::size_t i : bin)
                if (node.has_classes() && draw % 2 == 0 ? node.label(i) == only : random.uniform() < chance) within.move_entry(i);
            expect(within.cost() >= bound - node.rounding(), "no cut within a bin beats its bound");
        }
        within.start(left.data());
        within.move(sums.data());
        expect_near(within.cost(), sides.cost(), 1e-9 * (1.0 + std::fabs(sides.cost())), "a step moves the bin");
    }
}

void bounds_hold() {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Random random(seed, 9);
        const std::size_t n = 2 + random.below(60);
        const bool is_whole = seed % 2 == 0;
        const Task task(n, seed % 3 == 0 ? 2 : 4, is_whole, seed);
        const auto rows = all_rows(n);
        for (const Impurity impurity : {Impurity::entropy, Impurity::gini}) {
            const NodeTargets node(task.of(true), rows, impurity);
            const ClassTargets classes{node.labels(), node.weights(), node.totals(), node.total_weight()};
            if (impurity == Impurity::gini) {
                expect_bound_holds(GiniSides<0>(classes), node, random);
                if (task.n_classes == 2) expect_bound_holds(GiniSides<2>(classes), node, random);
            } else {
                expect_bound_holds(EntropySides<false, 0>(classes), node, random);
                if (is_whole) expect_bound_holds(EntropySides<true, 0>(classes), node, random);
                if (is_whole && task.n_classes == 2) expect_bound_holds(EntropySides<true, 2>(classes), node, random);
            }
        }
        const NodeTargets node(task.of(false), rows, Impurity::entropy);
        expect_bound_holds(NumberSides<0>(node), node, random);
        std::vector<double> first_values;
        for (std::size_t i = 0; i < n; ++i) first_values.push_back(task.values[i * n_values]);
        const NodeTargets one(Targets{{}, first_values, task.weights, 1}, rows, Impurity::entropy);
        expect_bound_holds(NumberSides<1>(one), one, random);
    }
}

// --- the same trees as by value --------------------------------------------------------------------------------------

bool is_same(const GrownTree& one, const GrownTree& two) {
    return one.left == two.left && one.right == two.right && one.bias == two.bias && one.indptr == two.indptr &&
           one.indices == two.indices && one.weights == two.weights && one.leaf_values == two.leaf_values;
}

/// Columns of many values, of few, of mostly zeros, and of values that lie close together but for some.
Matrix mixed_matrix(std::size_t n, std::uint64_t seed) {
    constexpr std::size_t d = 9;
    Random random(seed, 3);
    std::vector<float> values(n * d);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t kind = i % d % 4;
        if (kind == 0) values[i] = static_cast<float>(random.normal());
        if (kind == 1) values[i] = static_cast<float>(random.below(6)) - 2.0F;
        if (kind == 2 && random.below(10) == 0) values[i] = static_cast<float>(random.normal());
        if (kind == 3) values[i] = static_cast<float>(random.below(30) == 0 ? 1e6 * random.normal() : random.uniform());
    }
    return {std::move(values), n, d};
}

struct Setting {
    std::size_t n_rows, n_classes;
    bool has_classes, has_whole_weights;
    Impurity impurity;
    double min_leaf_weight;
};

template <DenseDesign D>
void expect_tree_by_value(const D& rows, const Matrix& x, const Setting& setting, std::uint64_t seed) {
    const Task task(setting.n_rows, setting.n_classes, setting.has_whole_weights, seed);
    const Targets targets = task.of(setting.has_classes);
    const Scaling scaling = scaling_of(x, task.weights, true);
    const TrainingTable table{AnyRows(rows)};
    CO2Options co2;
    co2.max_epochs = 5;
    std::vector<std::unique_ptr<SplitRule<D>>> rules;
    rules.push_back(axis_rule<D>());
    if (setting.n_rows < 200) rules.push_back(co2_rule<D>(co2));
    if (setting.n_rows < 200) rules.push_back(oc1_rule<D>(1, 2));
    for (const auto& rule : rules) {
        GrowOptions options;
        options.impurity = setting.impurity;
        options.n_candidates = 4;
        options.seed = seed;
        options.min_leaf_weight = setting.min_leaf_weight;
        const GrownTree by_value = grow_tree(rows, scaling, targets, *rule, options);
        expect(is_same(by_value, grow_tree(rows, scaling, targets, *rule, options, {}, &table)), "the tree by value");
        options.n_threads = 3;
        expect(is_same(by_value, grow_tree(rows, scaling, targets, *rule, options, {}, &table)), "in threads");
    }
}

void codes_give_the_tree_of_values() {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        Setting setting{seed % 4 == 3 ? 2500U : 20 + 8 * static_cast<std::size_t>(seed),
                        seed % 5 == 0 ? 7U : 2U,
                        seed % 3 != 0,
                        seed % 2 == 0,
                        seed % 4 < 2 ? Impurity::entropy : Impurity::gini,
                        seed % 6 == 5 ? 4.0 : 0.0};
        const Matrix x = mixed_matrix(setting.n_rows, seed);
        expect_tree_by_value(x.dense(), x, setting, seed);
    }
}

void codes_of_bytes_give_the_tree_of_values() {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Setting setting{seed % 3 == 2 ? 1500U : 60 + 8 * static_cast<std::size_t>(seed),
                        seed % 2 == 0 ? 3U : 2U,
                        seed % 4 != 0,
                        seed % 2 == 0,
                        seed % 2 == 0 ? Impurity::entropy : Impurity::gini,
                        0.0};
        Random random(seed, 4);
        constexpr std::size_t d = 6;
        std::vector<std::uint8_t> bytes(setting.n_rows * d);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(seed % 3 == 0 ? 4 : 256));
        const Matrix x(std::vector<float>(bytes.begin(), bytes.end()), setting.n_rows, d);
        expect_tree_by_value(ByteRows{bytes.data(), setting.n_rows, d}, x, setting, seed);
        expect_tree_by_value(x.dense(), x, setting, seed);
    }
}

// --- levels and missing values ---------------------------------------------------------------------------------------

/// A column of levels (coordinates 0 .. n_levels - 1, their flag last) and a number with a flag behind it.
struct Mixed {
    std::size_t n_levels, d;
    std::vector<TableColumn> columns;
    Matrix x;

    Mixed(std::size_t n, std::size_t levels, std::uint64_t seed)
        : n_levels(levels), d(levels + 3), columns(columns_of(levels)), x(rows_of(n, levels, seed), n, levels + 3) {}

    static std::vector<TableColumn> columns_of(std::size_t levels) {
        const auto k = static_cast<std::uint32_t>(levels);
        return {{0, k, static_cast<std::int32_t>(k)}, {k + 1, 0, static_cast<std::int32_t>(k + 2)}};
    }
    static std::vector<float> rows_of(std::size_t n, std::size_t levels, std::uint64_t seed) {
        Random random(seed, 6);
        const std::size_t d = levels + 3;
        std::vector<float> values(n * d);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t level = random.below(static_cast<std::uint32_t>(levels) + 2);  // or none, or missing
            if (level <= levels) values[i * d + level] = 1.0F;
            const bool is_missing = random.below(4) == 0;
            values[i * d + levels + 1] = is_missing ? 0.5F : static_cast<float>(random.below(6)) - 2.0F;
            values[i * d + levels + 2] = is_missing ? 1.0F : 0.0F;
        }
        return values;
    }
};

/// Cost of sending the rows left whose flag is set; none if all go one way.
double cost_of(const NodeTargets& node, const std::vector<bool>& goes_left) {
    Tally sides = node.tally();
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < node.size(); ++i)
        if (goes_left[i]) {
            node.move(sides, i);
            ++n_left;
        }
    return n_left == 0 || n_left == node.size() ? std::numeric_limits<double>::infinity() : sides.cost();
}

/// Least cost of all sets of levels (rows of no level and missing ones are sets of their own), and of all thresholds with missing
/// values on either side.
double brute_cost(const Mixed& data, const NodeTargets& node) {
    const std::size_t n = node.size(), k = data.n_levels;
    const auto at = [&](std::size_t i, std::size_t j) { return data.x.values[i * data.d + j]; };
    double least = std::numeric_limits<double>::infinity();
    std::vector<bool> goes_left(n);
    std::vector<std::size_t> category(n, k + 1);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t level = 0; level <= k; ++level)
            if (at(i, level) != 0.0F) category[i] = level;
    for (std::size_t set = 0; set < std::size_t{1} << (k + 2); ++set) {
        for (std::size_t i = 0; i < n; ++i) goes_left[i] = (set >> category[i] & 1U) != 0;
        least = std::min(least, cost_of(node, goes_left));
    }
    for (const bool is_missing_left : {false, true})
        for (float threshold = -3.0F; threshold <= 5.0F; threshold += 1.0F) {
            for (std::size_t i = 0; i < n; ++i) goes_left[i] = at(i, k + 2) != 0.0F ? is_missing_left : at(i, k + 1) < threshold;
            least = std::min(least, cost_of(node, goes_left));
        }
    return least;
}

/// `n_levels` + 2 categories: all sets are tried up to 8 of them, beyond that their order is enough for two classes and numbers.
void the_best_set_of_levels_is_found() {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const std::size_t n_levels = seed % 2 == 0 ? 5 : 9;
        const Mixed data(12 + seed % 40, n_levels, seed);
        const bool has_classes = seed % 3 != 0;
        const Task task(data.x.n_rows, n_levels == 5 ? 3 : 2, seed % 4 < 2, seed);
        Targets targets = task.of(has_classes);
        std::vector<double> first_values;  // more than one number have no order that is sure to hold the best set
        for (std::size_t i = 0; i < data.x.n_rows; ++i) first_values.push_back(task.values[i * n_values]);
        if (!has_classes) targets = {{}, first_values, task.weights, 1};
        const auto impurity = seed % 5 < 3 ? Impurity::entropy : Impurity::gini;
        const auto rows = all_rows(data.x.n_rows);
        const NodeTargets node(targets, rows, impurity);
        const TrainingTable table(data.x.dense(), data.columns, task.weights);
        const Scaling scaling(std::vector<double>(data.d), std::vector<double>(data.d, 1.0));
        GrowOptions options;
        options.impurity = impurity;
        options.max_depth = 1;
        options.n_candidates = data.d;
        options.seed = seed;
        const GrownTree tree = grow_tree(data.x.dense(), scaling, targets, *axis_rule<DenseRows>(), options, {}, &table);
        const double least = brute_cost(data, node);
        expect_equal(tree.left.size() == 3, std::isfinite(least), "a split exists where rows differ");
        if (tree.left.size() < 3) continue;
        std::vector<float> w(data.d);
        for (std::size_t k = 0; k < tree.indices.size(); ++k) w[static_cast<std::size_t>(tree.indices[k])] = tree.weights[k];
        std::vector<bool> goes_left(data.x.n_rows);
        for (std::size_t i = 0; i < data.x.n_rows; ++i) goes_left[i] = data.x.dense().dot(i, w.data()) + tree.bias[0] < 0.0;
        expect_near(cost_of(node, goes_left), least, 1e-9, "the least cost of all splits of columns");
    }
}

/// A tree that may read a number, but not its flag, and some levels of a column reads no more than these.
void only_readable_coordinates_are_read() {
    const Mixed data(200, 5, 1);
    const Task task(200, 3, true, 1);
    const TrainingTable table(data.x.dense(), data.columns, task.weights);
    std::vector<double> inverse_scale(data.d, 0.0);
    const std::vector<std::size_t> readable{1, 3, 6};
    for (std::size_t j : readable) inverse_scale[j] = 1.0;
    const Scaling scaling(std::vector<double>(data.d), inverse_scale);
    GrowOptions options;
    options.n_candidates = 2;
    const GrownTree tree = grow_tree(data.x.dense(), scaling, task.of(true), *axis_rule<DenseRows>(), options, {}, &table);
    expect(tree.left.size() > 3, "it grows");
    for (std::int32_t j : tree.indices)
        expect(std::ranges::find(readable, static_cast<std::size_t>(j)) != readable.end(), "a readable coordinate");
    expect(is_same(tree, grow_tree(data.x.dense(), scaling, task.of(true), *axis_rule<DenseRows>(), options)), "as by value");
}

}  // namespace

std::vector<Test> grow_codes_tests() {
    return {{"bounds on cuts within bins hold", bounds_hold},
            {"codes give the tree of values", codes_give_the_tree_of_values},
            {"codes of bytes give the tree of values", codes_of_bytes_give_the_tree_of_values},
            {"the best set of levels is found", the_best_set_of_levels_is_found},
            {"only readable coordinates are read", only_readable_coordinates_are_read}};
}

}  // namespace spinney::test
