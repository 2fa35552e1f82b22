#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "check.hpp"
#include "data.hpp"
#include "spinney/grow/grower.hpp"
#include "spinney/parallel.hpp"

namespace spinney::test {
namespace {

/// A matrix of whole numbers from 0 to 255, as bytes and as floats.
struct ByteMatrix {
    std::vector<std::uint8_t> bytes;
    Matrix floats;
    ByteMatrix(std::size_t n, std::size_t d, std::uint32_t n_values, std::uint64_t seed)
        : bytes(draw(n * d, n_values, seed)), floats(std::vector<float>(bytes.begin(), bytes.end()), n, d) {}
    [[nodiscard]] ByteRows rows() const { return {bytes.data(), floats.n_rows, floats.n_features}; }

  private:
    static std::vector<std::uint8_t> draw(std::size_t size, std::uint32_t n_values, std::uint64_t seed) {
        Random random(seed, 11);
        std::vector<std::uint8_t> drawn(size);
        for (auto& byte : drawn) byte = static_cast<std::uint8_t>(random.below(n_values));
        return drawn;
    }
};

/// What is to be predicted: classes, or two numbers a row. Rows that are alike have like targets.
struct Answers {
    static constexpr std::size_t n_classes = 3, n_values = 2;
    std::vector<std::int32_t> classes;
    std::vector<double> values, weights;
    Answers(const Matrix& x, std::uint64_t seed) : weights(random_weights(x.n_rows, seed)) {
        for (std::size_t n = 0; n < x.n_rows; ++n) {
            std::uint64_t key = seed;
            for (float value : x.dense().row(n)) key = mix(key ^ std::bit_cast<std::uint32_t>(value + 0.0F));
            Random random(key);
            classes.push_back(static_cast<std::int32_t>(random.below(n_classes)));
            for (std::size_t k = 0; k < n_values; ++k)
                values.push_back(random.normal() + 0.1 * static_cast<double>(x.dense().row(n)[0]));
        }
    }
    [[nodiscard]] Targets of(bool has_classes) const {
        if (has_classes) return {classes, {}, weights, n_classes};
        return {{}, values, weights, n_values};
    }
};

template <Design D>
using Rules = std::vector<std::pair<std::string_view, std::unique_ptr<SplitRule<D>>>>;

template <Design D>
Rules<D> all_rules() {
    CO2Options co2;
    co2.max_epochs = 10;
    Rules<D> rules;
    rules.emplace_back("axis", axis_rule<D>());
    rules.emplace_back("central axis", central_axis_rule<D>(50));
    rules.emplace_back("perceptron", perceptron_rule<D>(10, 50));
    rules.emplace_back("central axis in subspaces", in_subspaces(central_axis_rule<D>(50)));
    rules.emplace_back("perceptron in subspaces", in_subspaces(perceptron_rule<D>(10, 50)));
    rules.emplace_back("oc1", oc1_rule<D>(1, 2));
    rules.emplace_back("probes", probes_rule<D>());
    rules.emplace_back("projections", projections_rule<D>(3));
    rules.emplace_back("ridge", linear_rule<D>(LinearModel::ridge, 0.01));
    rules.emplace_back("lda", linear_rule<D>(LinearModel::lda, 0.01));
    rules.emplace_back("logistic", linear_rule<D>(LinearModel::logistic, 0.01));
    rules.emplace_back("co2", co2_rule<D>(co2));
    return rules;
}

template <Design D>
GrownTree grown(const D& rows, const Scaling& scaling, const Targets& targets, const SplitRule<D>& rule,
                std::size_t n_threads = 1, std::size_t max_depth = 0, std::size_t min_samples_split = 2) {
    GrowOptions options;
    options.n_candidates = 3;
    options.seed = 7;
    options.n_threads = n_threads;
    options.max_depth = max_depth;
    options.min_samples_split = min_samples_split;
    return grow_tree(rows, scaling, targets, rule, options);
}

bool is_same(const GrownTree& one, const GrownTree& two) {
    return one.left == two.left && one.right == two.right && one.bias == two.bias && one.indptr == two.indptr &&
           one.indices == two.indices && one.weights == two.weights && one.leaf_values == two.leaf_values;
}

/// Nodes that a row meets, with the score that any walk gives it.
std::vector<std::size_t> path(const GrownTree& tree, const Matrix& x, std::size_t n) {
    std::vector<std::size_t> nodes{0};
    while (tree.left[nodes.back()] >= 0) {
        const std::size_t node = nodes.back();
        std::vector<float> w(x.n_features);
        for (auto k = static_cast<std::size_t>(tree.indptr[node]); k < static_cast<std::size_t>(tree.indptr[node + 1]); ++k)
            w[static_cast<std::size_t>(tree.indices[k])] = tree.weights[k];
        const bool is_right = x.dense().dot(n, w.data()) + tree.bias[node] >= 0.0;
        nodes.push_back(static_cast<std::size_t>(is_right ? tree.right[node] : tree.left[node]));
    }
    return nodes;
}

std::size_t leaf_number(const GrownTree& tree, std::size_t node) {
    return static_cast<std::size_t>(std::count_if(tree.left.begin(), tree.left.begin() + static_cast<std::ptrdiff_t>(node),
                                                  [](std::int32_t left) { return left < 0; }));
}

// --- cuts ------------------------------------------------------------------------------------------------------------

/// Cost of one side of a cut, from its definition.
double side_cost(const Answers& answers, bool has_classes, Impurity impurity, std::span<const std::size_t> rows) {
    double weight = 0.0;
    std::vector<double> totals(has_classes ? Answers::n_classes : Answers::n_values);
    for (std::size_t n : rows) {
        weight += answers.weights[n];
        if (has_classes) totals[static_cast<std::size_t>(answers.classes[n])] += answers.weights[n];
        for (std::size_t k = 0; k < totals.size() && !has_classes; ++k)
            totals[k] += answers.weights[n] * answers.values[n * Answers::n_values + k];
    }
    double cost = 0.0;
    if (has_classes) {
        for (double total : totals)
            if (total > 0.0)
                cost += impurity == Impurity::entropy ? -total * std::log(total / weight) : total * (1.0 - total / weight);
        return cost;
    }
    for (std::size_t n : rows)
        for (std::size_t k = 0; k < totals.size(); ++k)
            cost += answers.weights[n] * std::pow(answers.values[n * Answers::n_values + k] - totals[k] / weight, 2.0);
    return cost;
}

double cut_cost(const Answers& answers, bool has_classes, Impurity impurity, std::span<const float> scores, float threshold) {
    std::vector<std::size_t> left, right;
    for (std::size_t n = 0; n < scores.size(); ++n) (scores[n] >= threshold ? right : left).push_back(n);
    return side_cost(answers, has_classes, impurity, left) + side_cost(answers, has_classes, impurity, right);
}

/// Every score but the lowest as threshold: the least cost, and the lowest threshold that has it.
std::pair<double, float> brute_cut(const Answers& answers, bool has_classes, Impurity impurity, std::span<const float> scores) {
    const std::set<float> distinct(scores.begin(), scores.end());
    std::pair<double, float> best{std::numeric_limits<double>::infinity(), 0.0F};
    for (auto at = std::next(distinct.begin()); at != distinct.end(); ++at) {
        const double cost = cut_cost(answers, has_classes, impurity, scores, *at);
        if (cost < best.first - 1e-9) best = {cost, *at};
    }
    return best;
}

constexpr std::array<std::pair<bool, Impurity>, 3> measures{
    {{true, Impurity::entropy}, {true, Impurity::gini}, {false, Impurity::entropy}}};

std::vector<float> column(const Matrix& x, std::size_t j) {
    std::vector<float> scores;
    for (std::size_t n = 0; n < x.n_rows; ++n) scores.push_back(x.values[n * x.n_features + j]);
    return scores;
}

void best_cut_equals_brute_force() {
    for (const auto& [has_classes, impurity] : measures)
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const std::size_t n = 2 + seed;
            const Matrix x = seed % 2 == 0 ? random_matrix(n, 2, 1.0, seed) : tied_matrix(n, 2, seed);
            Answers answers(x, seed);
            if (seed % 4 == 1) std::ranges::fill(answers.weights, 1.0);
            const auto scores = column(x, 0);
            const auto rows = all_rows(n);
            const NodeTargets node(answers.of(has_classes), rows, impurity);
            const Cut found = node.best_cut(std::span<const float>(scores));
            const auto [least, threshold] = brute_cut(answers, has_classes, impurity, scores);
            expect_equal(found.is_found, std::isfinite(least), "a cut exists where scores differ");
            if (!found.is_found) continue;
            expect_near(cut_cost(answers, has_classes, impurity, scores, found.threshold), least, 1e-9, "least cost");
            if (has_classes) expect_near(found.cost, least, 1e-9, "the cost it tells");
            for (float score : scores) expect_equal(score >= found.threshold, score >= threshold, "the lowest of equal cuts");
        }
}

void equal_scores_have_no_cut() {
    const Matrix x = tied_matrix(10, 2, 1);
    const Answers answers(x, 1);
    const auto rows = all_rows(10);
    const NodeTargets node(answers.of(true), rows, Impurity::gini);
    const std::vector<float> scores(10, 2.5F);
    const std::vector<std::uint8_t> bytes(10, 9);
    expect(!node.best_cut(std::span<const float>(scores)).is_found, "floats");
    expect(!node.best_cut(std::span<const std::uint8_t>(bytes)).is_found, "bytes");
}

void zeros_of_both_signs_are_one_score() {
    const Matrix x({-0.0F, 0.0F, -0.0F, 0.0F}, 4, 1);
    Answers answers(x, 1);
    answers.classes = {0, 1, 0, 1};
    const auto rows = all_rows(4);
    const NodeTargets node(answers.of(true), rows, Impurity::gini);
    expect(!node.best_cut(std::span<const float>(x.values)).is_found, "no cut between -0 and 0");
}

void neighbouring_floats_are_parted() {
    for (float low : {0.0F, 1.0F, -1.0F, 1e30F, std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::max()}) {
        const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
        expect(between(low, high) > low && between(low, high) <= high, "above one, at most the other");
    }
    const float most = std::numeric_limits<float>::max();
    expect(std::isfinite(between(-most, most)), "no overflow");
}

void byte_cut_equals_float_cut() {
    for (const auto& [has_classes, impurity] : measures)
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            const ByteMatrix x(5 + 10 * seed, 1, seed % 3 == 0 ? 256 : 4, seed);
            const Answers answers(x.floats, seed);
            const auto rows = all_rows(x.floats.n_rows);
            const NodeTargets node(answers.of(has_classes), rows, impurity);
            const Cut bytes = node.best_cut(std::span<const std::uint8_t>(x.bytes));
            const Cut floats = node.best_cut(std::span<const float>(x.floats.values));
            expect_equal(bytes.threshold, floats.threshold, "threshold");
            expect_near(bytes.cost, floats.cost, 1e-9, "cost");
        }
}

/// Cuts at 0.5 and at 2.5 cost the same; rounding must not decide between them.
void unit_of_the_weights_changes_no_cut() {
    const Matrix x({0.0F, 1.0F, 2.0F, 3.0F}, 4, 1);
    const std::vector<std::int32_t> classes{0, 1, 1, 0};
    const std::vector<double> values{0.0, 1.0, 1.0, 0.0};
    const std::vector<std::uint8_t> bytes{0, 1, 2, 3};
    const auto rows = all_rows(4);
    for (const auto& [has_classes, impurity] : measures)
        for (double unit : {1e-30, 1e-6, 0.01, 0.05, 0.1, 0.3, 1.0, 7.0, 1e9, 1e30}) {
            const std::vector<double> weights(4, unit / 3.0);
            const Targets targets = has_classes ? Targets{classes, {}, weights, 2} : Targets{{}, values, weights, 1};
            const NodeTargets node(targets, rows, impurity);
            expect(node.rounding() >= 0.0, "rounding is no gain");
            expect_equal(node.best_cut(std::span<const float>(x.values)).threshold, 0.5F, "lowest of equals");
            expect_equal(node.best_cut(std::span<const std::uint8_t>(bytes)).threshold, 0.5F, "lowest of equal bytes");
        }
}

void tally_undoes_its_moves() {
    const Matrix x = tied_matrix(30, 1, 3);
    const Answers answers(x, 3);
    const auto rows = all_rows(30);
    for (const auto& [has_classes, impurity] : measures) {
        const NodeTargets node(answers.of(has_classes), rows, impurity);
        Tally sides = node.tally();
        const double before = sides.cost();
        for (std::size_t i = 0; i < 20; ++i) node.move(sides, i);
        for (std::size_t i = 0; i < 20; ++i) node.move(sides, i, -1.0);
        expect_near(sides.cost(), before, 1e-9, "cost after all went back");
        node.move(sides, 0);
        sides.reset();
        expect_equal(sides.cost(), before, "cost after a reset");
    }
}

// --- CO2's bound -----------------------------------------------------------------------------------------------------

void bound_is_never_below_the_loss_and_falls_with_length() {
    Random random(1);
    for (int k = 0; k < 10000; ++k) {
        const double score = k % 50 == 0 ? 0.0 : 3.0 * random.normal();
        const double left = 5.0 * random.uniform(), right = 5.0 * random.uniform();
        const double bound = stump_bound(score, left, right);
        expect(bound >= (score < 0.0 ? left : right) - 1e-12, "eq. (5)");
        const double factor = 1.0 + 3.0 * random.uniform();
        expect(stump_bound(factor * score, left, right) <= bound + 1e-12, "eq. (8)");
        expect_near(stump_bound(1e3 * (score < 0.0 ? -1.0 : 1.0), left, right), score < 0.0 ? left : right, 1e-9,
                    "tight in the limit");
    }
}

/// Passes end at max_epochs also if the tangent would be kept for longer.
void most_passes_are_kept() {
    const Matrix x = random_matrix(60, 4, 1.0, 5);
    const Answers answers(x, 5);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    for (std::size_t max_epochs : {1U, 3U, 7U}) {
        CO2Options at_once, never;
        at_once.max_epochs = never.max_epochs = max_epochs;
        at_once.refresh_epochs = max_epochs;
        never.refresh_epochs = std::size_t{1} << 40U;
        expect(is_same(grown(x.dense(), scaling, answers.of(true), *co2_rule<DenseRows>(at_once)),
                       grown(x.dense(), scaling, answers.of(true), *co2_rule<DenseRows>(never))),
               "same tree");
    }
}

/// Two blobs that no column parts: the split has to lean on both columns, whatever the weights are measured in.
void co2_finds_an_oblique_split_for_any_unit_of_the_weights() {
    Random random(3);
    std::vector<float> values;
    std::vector<std::int32_t> classes;
    for (std::size_t n = 0; n < 200; ++n) {
        const double along = 4.0 * random.normal();
        const double across = (n % 2 == 0 ? 1.0 : -1.0) + 0.2 * random.normal();
        values.push_back(static_cast<float>(along + across));
        values.push_back(static_cast<float>(along - across));
        classes.push_back(static_cast<std::int32_t>(n % 2));
    }
    const Matrix x(values, 200, 2);
    CO2Options options;
    options.learning_rate = 0.1;
    options.max_epochs = 200;
    for (double unit : {1e-42, 1e-10, 1.0, 1e10, 3e35}) {
        const std::vector<double> weights(200, unit);
        const Scaling scaling = scaling_of(x, weights, true);
        const GrownTree tree = grown(x.dense(), scaling, {classes, {}, weights, 2}, *co2_rule<DenseRows>(options), 1, 1);
        expect_equal(tree.indptr[1], 2, "weights of the root");
        for (double share : tree.leaf_values) expect(share < 0.05 || share > 0.95, "parted classes");
    }
}

// --- judges ----------------------------------------------------------------------------------------------------------

/// Splits by columns, and remembers who was there to judge, a call after the other.
class Spy final : public SplitRule<DenseRows> {
  public:
    Hyperplane find(const GrowSite<DenseRows>& site, Random random) const override {
        seen.emplace_back(site.judges.rows.begin(), site.judges.rows.end());
        return best_axis(site, random);
    }
    mutable std::vector<std::set<std::size_t>> seen;
};

void judges_walk_down_the_tree_without_a_part_in_it() {
    const Matrix x = random_matrix(120, 4, 1.0, 9);
    Answers answers(x, 9);
    std::vector<double> judge_weights(x.n_rows);
    for (std::size_t n = 0; n < x.n_rows; n += 3) judge_weights[n] = std::exchange(answers.weights[n], 0.0) + 1.0;
    const Scaling scaling = scaling_of(x, answers.weights, true);
    const Spy spy;
    const GrownTree tree = grow_tree(x.dense(), scaling, answers.of(true), spy, {}, judge_weights);
    expect(is_same(tree, grow_tree(x.dense(), scaling, answers.of(true), *axis_rule<DenseRows>(), {})), "the tree of the others");
    std::vector<std::set<std::size_t>> there(tree.left.size());
    for (std::size_t n = 0; n < x.n_rows; ++n)
        if (judge_weights[n] > 0.0)
            for (std::size_t node : path(tree, x, n)) there[node].insert(n);
    std::size_t call = 0;  // breadth first: the order of the nodes
    for (std::size_t node = 0; node < tree.left.size(); ++node)
        if (tree.left[node] >= 0) expect(spy.seen[call++] == there[node], "those that reach the node");
    expect_equal(call, spy.seen.size(), "splits");
}

// --- scores ----------------------------------------------------------------------------------------------------------

template <Design D>
void expect_scores(const D& rows, const Hyperplane& plane) {
    std::vector<float> w(rows.n_features);
    for (std::size_t k = 0; k < plane.columns.size(); ++k) w[plane.columns[k]] = plane.weights[k];
    const auto numbers = all_rows(rows.n_rows);
    std::vector<float> scores(rows.n_rows);
    score_rows(rows, numbers, plane, std::span(scores));
    for (std::size_t n = 0; n < rows.n_rows; ++n)
        expect_equal(std::bit_cast<std::uint64_t>(static_cast<double>(scores[n]) + 0.0),
                     std::bit_cast<std::uint64_t>(rows.dot(n, w.data()) + 0.0), "bits of the dot product");
}

void scores_have_the_bits_of_the_dot_product() {
    for (std::size_t d : {1U, 2U, 7U, 8U, 31U, 32U, 33U, 64U, 65U, 200U})
        for (std::size_t count : {1U, 2U, 3U, 9U, 40U, 200U}) {
            if (count > d) continue;
            Random random(d, count);
            Hyperplane plane;
            plane.columns = draw_columns(all_rows(d), count, random);
            std::ranges::sort(plane.columns);
            for (std::size_t k = 0; k < count; ++k) plane.weights.push_back(static_cast<float>(random.normal()));
            const Matrix x = random_matrix(20, d, 0.5, d);
            expect_scores(x.dense(), plane);
            expect_scores(x.sparse(), plane);
            expect_scores(ByteMatrix(20, d, 256, d).rows(), plane);
        }
}

void compact_keeps_the_weights_that_are_not_zero() {
    const std::vector<float> w{0.0F, 2.0F, -0.0F, -3.0F};
    const Hyperplane plane = compact(w, 0.5);
    expect(plane.columns == std::vector<std::uint32_t>{1, 3} && plane.weights == std::vector<float>{2.0F, -3.0F}, "weights");
    expect_equal(plane.bias, 0.5, "bias");
    expect(compact(std::vector<float>(3), 1.0).is_empty(), "no weights");
}

void gathered_columns_are_those_of_the_matrix() {
    const Matrix x = random_matrix(30, 20, 0.3, 4);
    const std::vector<std::uint32_t> columns{17, 0, 5, 19}, numbers{3, 29, 0, 3};
    std::vector<float> dense(16), sparse(16, 9.0F);
    gather_columns(x.dense(), numbers, columns, std::span(dense));
    gather_columns(x.sparse(), numbers, columns, std::span(sparse));
    expect(dense == sparse, "dense and sparse");
    for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t i = 0; i < 4; ++i) expect_equal(dense[c * 4 + i], x.values[numbers[i] * 20 + columns[c]], "value");
}

void drawn_columns_are_distinct() {
    const auto all = all_rows(12);
    std::vector<int> counts(12);
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        Random random(seed);
        const auto drawn = draw_columns(all, 3, random);
        expect_equal(std::set<std::uint32_t>(drawn.begin(), drawn.end()).size(), std::size_t{3}, "three columns");
        for (std::uint32_t j : drawn) ++counts[j];
    }
    for (int count : counts) expect(count > 90 && count < 210, "every column is drawn as often");
    Random random(1);
    expect_equal(draw_columns(all, 99, random).size(), std::size_t{12}, "no more than there are");
}

// --- trees -----------------------------------------------------------------------------------------------------------

void leaves_on_distinct_rows_are_pure() {
    for (const bool has_classes : {true, false})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const Matrix x = seed % 2 == 0 ? tied_matrix(120, 3, seed) : random_matrix(80, 9, 0.5, seed);
            const Answers answers(x, seed);
            const Scaling scaling = scaling_of(x, answers.weights, true);
            const std::size_t width = has_classes ? Answers::n_classes : Answers::n_values;
            for (const auto& [name, rule] : all_rules<DenseRows>()) {
                const GrownTree tree = grown(x.dense(), scaling, answers.of(has_classes), *rule);
                for (std::size_t n = 0; n < x.n_rows; ++n) {
                    const double* leaf = tree.leaf_values.data() + leaf_number(tree, path(tree, x, n).back()) * width;
                    if (has_classes)
                        expect_equal(leaf[answers.classes[n]], 1.0, name);
                    else
                        expect(leaf[0] == answers.values[n * width] && leaf[1] == answers.values[n * width + 1], name);
                }
            }
        }
}

void threads_change_no_tree() {
    const Matrix x = random_matrix(300, 6, 1.0, 2);
    const Answers answers(x, 2);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    for (const bool has_classes : {true, false})
        for (const auto& [name, rule] : all_rules<DenseRows>())
            expect(is_same(grown(x.dense(), scaling, answers.of(has_classes), *rule, 1),
                           grown(x.dense(), scaling, answers.of(has_classes), *rule, 3)),
                   name);
}

/// Scaled about zero, all rules but CO2 do the same on both: CO2 sums the slopes of four dense rows at once.
void dense_and_sparse_rows_give_the_same_tree() {
    const Matrix x = random_matrix(200, 10, 0.3, 6);
    const Answers answers(x, 6);
    const Scaling scaling = scaling_of(x, answers.weights, false);
    const auto dense_rules = all_rules<DenseRows>();
    const auto sparse_rules = all_rules<SparseRows>();
    for (const bool has_classes : {true, false})
        for (std::size_t k = 0; k < dense_rules.size(); ++k) {
            if (dense_rules[k].first == "co2") continue;
            expect(is_same(grown(x.dense(), scaling, answers.of(has_classes), *dense_rules[k].second),
                           grown(x.sparse(), scaling, answers.of(has_classes), *sparse_rules[k].second)),
                   dense_rules[k].first);
        }
}

void padded_and_plain_rows_give_the_same_tree() {
    for (const std::size_t d : {5U, 19U}) {
        const Matrix x = random_matrix(150, d, 0.9, d);
        const auto rows = padded(x);
        const Answers answers(x, 6);
        const Scaling scaling = scaling_of(x, answers.weights, true);
        for (const bool has_classes : {true, false})
            for (const auto& [name, rule] : all_rules<DenseRows>())
                expect(is_same(grown(rows.view(), scaling, answers.of(has_classes), *rule),
                               grown(x.dense(), scaling, answers.of(has_classes), *rule)),
                       name);
    }
}

void sparse_rows_end_in_pure_leaves_too() {
    const Matrix x = random_matrix(100, 20, 0.2, 8);
    const Answers answers(x, 8);
    const Scaling scaling = scaling_of(x, answers.weights, false);
    for (const auto& [name, rule] : all_rules<SparseRows>()) {
        const GrownTree tree = grown(x.sparse(), scaling, answers.of(true), *rule);
        for (std::size_t n = 0; n < x.n_rows; ++n)
            expect_equal(tree.leaf_values[leaf_number(tree, path(tree, x, n).back()) * Answers::n_classes +
                                          static_cast<std::size_t>(answers.classes[n])],
                         1.0, name);
    }
}

/// With rows enough for bytes to be counted by value in some nodes and sorted in others.
void byte_and_float_rows_give_the_same_tree() {
    const ByteMatrix x(700, 70, 6, 9);
    const Answers answers(x.floats, 9);
    const Scaling scaling = scaling_of(x.floats, answers.weights, true);
    const auto byte_rules = all_rules<ByteRows>();
    const auto float_rules = all_rules<DenseRows>();
    for (const bool has_classes : {true, false})
        for (std::size_t k = 0; k < byte_rules.size(); ++k) {
            if (byte_rules[k].first == "oc1") continue;  // slow, and nothing of its own
            expect(is_same(grown(x.rows(), scaling, answers.of(has_classes), *byte_rules[k].second, 1, 4),
                           grown(x.floats.dense(), scaling, answers.of(has_classes), *float_rules[k].second, 1, 4)),
                   byte_rules[k].first);
        }
}

void rows_of_weight_zero_leave_no_trace() {
    const Matrix x = random_matrix(120, 5, 1.0, 10);
    Answers answers(x, 10);
    Answers kept_answers = answers;
    kept_answers.classes.clear();
    kept_answers.values.clear();
    kept_answers.weights.clear();
    std::vector<float> kept;
    for (std::size_t n = 0; n < x.n_rows; ++n) {
        if (n % 3 == 0) {
            answers.weights[n] = 0.0;
            continue;
        }
        const auto row = x.dense().row(n);
        kept.insert(kept.end(), row.begin(), row.end());
        kept_answers.classes.push_back(answers.classes[n]);
        kept_answers.weights.push_back(answers.weights[n]);
        for (std::size_t k = 0; k < Answers::n_values; ++k)
            kept_answers.values.push_back(answers.values[n * Answers::n_values + k]);
    }
    const std::size_t n_kept = kept_answers.weights.size();
    const Matrix part(std::move(kept), n_kept, x.n_features);
    const Scaling scaling = scaling_of(part, kept_answers.weights, true);
    for (const bool has_classes : {true, false})
        for (const auto& [name, rule] : all_rules<DenseRows>())
            expect(is_same(grown(x.dense(), scaling, answers.of(has_classes), *rule),
                           grown(part.dense(), scaling, kept_answers.of(has_classes), *rule)),
                   name);
}

/// Leaves hold the weighted means of the rows that any walk sends there; no node is empty.
void leaves_hold_the_means_of_their_rows() {
    const Matrix x = random_matrix(150, 4, 1.0, 12);
    const Answers answers(x, 12);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    for (const auto& [name, rule] : all_rules<DenseRows>()) {
        const GrownTree tree = grown(x.dense(), scaling, answers.of(true), *rule, 1, 3, 8);
        std::vector<double> totals(tree.left.size() * Answers::n_classes), weights(tree.left.size());
        std::vector<std::size_t> counts(tree.left.size());
        for (std::size_t n = 0; n < x.n_rows; ++n)
            for (std::size_t node : path(tree, x, n)) {
                weights[node] += answers.weights[n];
                totals[node * Answers::n_classes + static_cast<std::size_t>(answers.classes[n])] += answers.weights[n];
                ++counts[node];
            }
        for (std::size_t node = 0; node < tree.left.size(); ++node) {
            expect(counts[node] > 0, name);
            if (tree.left[node] >= 0) {
                expect(counts[node] >= 8, "rows of a split");
                continue;
            }
            for (std::size_t k = 0; k < Answers::n_classes; ++k)
                expect_near(tree.leaf_values[leaf_number(tree, node) * Answers::n_classes + k],
                            totals[node * Answers::n_classes + k] / weights[node], 1e-12, name);
        }
        for (std::size_t n = 0; n < x.n_rows; ++n) expect(path(tree, x, n).size() <= 4, "depth");
    }
}

/// OC1 begins at the best column, so it never ends at a worse split.
void oc1_is_no_worse_than_the_best_column() {
    for (const auto& [has_classes, impurity] : measures)
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Matrix x = seed % 2 == 0 ? random_matrix(60, 4, 1.0, seed) : tied_matrix(60, 4, seed);
            const Answers answers(x, seed);
            const Scaling scaling = scaling_of(x, answers.weights, true);
            const auto rows = all_rows(60);
            const NodeTargets node(answers.of(has_classes), rows, impurity);
            const auto columns = all_rows(4);
            const GrowSite<DenseRows> site{x.dense(), scaling, rows, node, columns, 4};
            const auto cost = [&](const Hyperplane& plane) {
                std::vector<float> scores(60);
                score_rows(x.dense(), rows, plane, std::span(scores));
                return cut_cost(answers, has_classes, impurity, scores, static_cast<float>(-plane.bias));
            };
            const double axis = cost(axis_rule<DenseRows>()->find(site, Random(seed)));
            expect(cost(oc1_rule<DenseRows>(2, 3)->find(site, Random(seed))) <= axis + 1e-9, "no worse");
        }
}

void best_axis_is_the_best_of_all_columns() {
    for (const auto& [has_classes, impurity] : measures)
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Matrix x = tied_matrix(40, 5, seed);
            const Answers answers(x, seed);
            const Scaling scaling = scaling_of(x, answers.weights, true);
            const auto rows = all_rows(40);
            const NodeTargets node(answers.of(has_classes), rows, impurity);
            const auto columns = all_rows(5);
            const GrowSite<DenseRows> site{x.dense(), scaling, rows, node, columns, 5};
            Random random(seed);
            const Hyperplane plane = best_axis(site, random);
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t j = 0; j < 5; ++j)
                least = std::min(least, brute_cut(answers, has_classes, impurity, column(x, j)).first);
            const auto scores = column(x, plane.columns[0]);
            expect_near(cut_cost(answers, has_classes, impurity, scores, static_cast<float>(-plane.bias)), least, 1e-9,
                        "least cost");
        }
}

/// One column of many parts the rows; it is found however few are drawn.
void more_columns_are_drawn_until_one_parts_the_rows() {
    std::vector<float> values(20 * 50, 1.0F);
    for (std::size_t n = 0; n < 20; ++n) values[n * 50 + 31] = static_cast<float>(n % 2);
    const Matrix x(values, 20, 50);
    std::vector<std::int32_t> classes;
    for (std::size_t n = 0; n < 20; ++n) classes.push_back(static_cast<std::int32_t>(n % 2));
    const std::vector<double> weights(20, 1.0);
    const Scaling scaling(std::vector<double>(50), std::vector<double>(50, 1.0));  // no column counts as constant
    for (const auto& [name, rule] : all_rules<DenseRows>()) {
        const GrownTree tree = grown(x.dense(), scaling, {classes, {}, weights, 2}, *rule);
        expect_equal(tree.left.size(), std::size_t{3}, name);
    }
}

/// A rule that always gives the same answer.
class ConstantRule final : public SplitRule<DenseRows> {
  public:
    explicit ConstantRule(Hyperplane plane) : plane_(std::move(plane)) {}
    Hyperplane find(const GrowSite<DenseRows>&, Random) const override { return plane_; }

  private:
    Hyperplane plane_;
};

/// Whatever a rule says, rows are parted: by the best column where the rule parts none.
void useless_answers_of_a_rule_are_replaced() {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const Matrix x = random_matrix(50, 3, 1.0, 14);
    const Answers answers(x, 14);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    const std::vector<Hyperplane> planes{{{}, {}, 1.0},
                                         {{1}, {1.0F}, 1e9},
                                         {{1}, {1.0F}, -1e9},
                                         {{1}, {inf}, -1.0},
                                         {{0, 2}, {-inf, 1.0F}, 0.0},
                                         {{0}, {std::nanf("")}, 0.0},
                                         {{0}, {1.0F}, std::nan("")},
                                         {{0}, {1.0F}, static_cast<double>(inf)}};
    for (const Hyperplane& plane : planes) {
        const GrownTree tree = grown(x.dense(), scaling, answers.of(true), ConstantRule(plane));
        for (float weight : tree.weights) expect(std::isfinite(weight), "finite weights");
        for (double bias : tree.bias) expect(std::isfinite(bias), "finite biases");
        for (double share : tree.leaf_values) expect(share == 0.0 || share == 1.0, "pure leaves");
    }
}

void interrupt_ends_the_growth() {
    const Matrix x = random_matrix(200, 4, 1.0, 13);
    const Answers answers(x, 13);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    for (const std::size_t n_threads : {1U, 3U})
        for (const int patience : {0, 5}) {
            GrowOptions options;
            options.n_threads = n_threads;
            int n_looks = 0;
            const Interruptible scope([&] { return n_looks++ >= patience; });
            expect_throw<Interrupted>(
                [&] { (void)grow_tree(x.dense(), scaling, answers.of(true), *axis_rule<DenseRows>(), options); }, "no tree");
        }
}

/// Of a single node, and for each rule: all that takes long asks.
void interrupt_ends_a_rule_at_work() {
    const Matrix x = random_matrix(3000, 6, 1.0, 15);
    const Answers answers(x, 15);
    const Scaling scaling = scaling_of(x, answers.weights, true);
    std::vector<std::uint32_t> reach(x.n_rows);
    std::iota(reach.begin(), reach.end(), 0U);
    const std::vector<std::uint32_t> columns{0, 1, 2, 3, 4, 5};
    const DenseRows rows = x.dense();
    const Targets targets = answers.of(true);
    const NodeTargets node(targets, reach, Impurity::entropy);
    for (const auto& [name, rule] : all_rules<DenseRows>())
        for (const int patience : {0, 1, 2}) {
            int n_looks = 0;
            const Interruptible scope([&] { return n_looks++ >= patience; });
            const GrowSite<DenseRows> site{rows, scaling, reach, node, columns, columns.size()};
            expect_throw<Interrupted>([&] { (void)rule->find(site, Random(1)); }, name);
        }
}

void too_many_rows_are_refused() {
    const DenseRows rows{nullptr, std::size_t{1} << 32U, 0};
    const Scaling scaling({}, {});
    expect_throw<std::invalid_argument>([&] { (void)grow_tree(rows, scaling, {}, *axis_rule<DenseRows>(), {}); }, "2^31 rows");
}

void rows_that_are_alike_stay_together() {
    const Matrix x(std::vector<float>(20, 3.0F), 10, 2);
    Answers answers(x, 1);
    for (std::size_t n = 0; n < 10; ++n) answers.classes[n] = static_cast<std::int32_t>(n % 2);
    const Scaling scaling(std::vector<double>(2), std::vector<double>(2, 1.0));
    for (const auto& [name, rule] : all_rules<DenseRows>())
        expect_equal(grown(x.dense(), scaling, answers.of(true), *rule).left.size(), std::size_t{1}, name);
}

/// Beyond the range of float a hyperplane may overflow, but what the tree holds never does.
void hyperplanes_are_finite() {
    for (const double unit : {1e-19, 1e19, 1e37})
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            Matrix x = random_matrix(60, 4, 1.0, seed);
            for (float& value : x.values) value *= static_cast<float>(unit);
            const Answers answers(x, seed);
            const Scaling scaling = scaling_of(x, answers.weights, true);
            for (const auto& [name, rule] : all_rules<DenseRows>()) {
                const GrownTree tree = grown(x.dense(), scaling, answers.of(true), *rule);
                for (float weight : tree.weights) expect(std::isfinite(weight) && weight != 0.0F, name);
                for (double bias : tree.bias) expect(std::isfinite(bias), name);
                for (std::size_t n = 0; n < x.n_rows; ++n)
                    expect_equal(tree.leaf_values[leaf_number(tree, path(tree, x, n).back()) * Answers::n_classes +
                                                  static_cast<std::size_t>(answers.classes[n])],
                                 1.0, name);
            }
        }
}

}  // namespace

std::vector<Test> grow_tests() {
    return {{"the best cut is that of brute force", best_cut_equals_brute_force},
            {"padded and plain rows give the same tree", padded_and_plain_rows_give_the_same_tree},
            {"equal scores have no cut", equal_scores_have_no_cut},
            {"zeros of both signs are one score", zeros_of_both_signs_are_one_score},
            {"neighbouring floats are parted", neighbouring_floats_are_parted},
            {"the cut of bytes is that of floats", byte_cut_equals_float_cut},
            {"the unit of the weights changes no cut", unit_of_the_weights_changes_no_cut},
            {"a tally undoes its moves", tally_undoes_its_moves},
            {"CO2's bound is never below the loss", bound_is_never_below_the_loss_and_falls_with_length},
            {"CO2 makes no more passes than it may", most_passes_are_kept},
            {"CO2 splits are oblique for any unit of the weights", co2_finds_an_oblique_split_for_any_unit_of_the_weights},
            {"judges walk down the tree without a part in it", judges_walk_down_the_tree_without_a_part_in_it},
            {"scores have the bits of the dot product", scores_have_the_bits_of_the_dot_product},
            {"compact keeps the weights that are not zero", compact_keeps_the_weights_that_are_not_zero},
            {"gathered columns are those of the matrix", gathered_columns_are_those_of_the_matrix},
            {"drawn columns are distinct", drawn_columns_are_distinct},
            {"leaves on distinct rows are pure", leaves_on_distinct_rows_are_pure},
            {"threads change no grown tree", threads_change_no_tree},
            {"dense and sparse rows give the same grown tree", dense_and_sparse_rows_give_the_same_tree},
            {"sparse rows end in pure leaves too", sparse_rows_end_in_pure_leaves_too},
            {"byte and float rows give the same grown tree", byte_and_float_rows_give_the_same_tree},
            {"rows of weight zero leave no trace", rows_of_weight_zero_leave_no_trace},
            {"leaves hold the means of their rows", leaves_hold_the_means_of_their_rows},
            {"OC1 is no worse than the best column", oc1_is_no_worse_than_the_best_column},
            {"the best axis is the best of all columns", best_axis_is_the_best_of_all_columns},
            {"more columns are drawn until one parts the rows", more_columns_are_drawn_until_one_parts_the_rows},
            {"useless answers of a rule are replaced", useless_answers_of_a_rule_are_replaced},
            {"an interrupt ends the growth", interrupt_ends_the_growth},
            {"an interrupt ends a rule at work", interrupt_ends_a_rule_at_work},
            {"too many rows are refused", too_many_rows_are_refused},
            {"rows that are alike stay together", rows_that_are_alike_stay_together},
            {"hyperplanes of grown trees are finite", hyperplanes_are_finite}};
}

}  // namespace spinney::test
