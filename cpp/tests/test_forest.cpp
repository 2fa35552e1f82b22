#include "spinney/forest.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "trees.hpp"

namespace spinney::test {
namespace {

constexpr std::size_t n_outputs = 3;

/// Leaves of a complete tree; a density of 0 makes them constant.
struct RandomLeaves {
    std::vector<double> intercepts;
    std::vector<std::int64_t> indptr{0};
    Ints indices;
    std::vector<float> weights;

    RandomLeaves(std::size_t n_leaves, std::size_t d, double density) {
        Random random(n_leaves, d, 7);
        for (std::size_t row = 0; row < n_leaves * n_outputs; ++row) {
            intercepts.push_back(random.normal());
            for (std::size_t j = 0; j < d; ++j)
                if (random.uniform() < density) {
                    indices.push_back(static_cast<std::int32_t>(j));
                    weights.push_back(static_cast<float>(random.normal()));
                }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
    }
    [[nodiscard]] LinearLeafView view() const { return {intercepts, indptr, indices, weights, n_outputs}; }
};

/// Trees of several depths and densities, constant and linear leaves in turn; the last is a single leaf.
struct RandomForest {
    std::vector<RandomTree> trees;
    std::vector<RandomLeaves> leaves;
    std::vector<ForestTree> views;
    std::vector<double> weights;

    explicit RandomForest(std::size_t d) {
        const double densities[] = {1.0, 0.3, 0.02, 0.0};
        for (std::size_t depth = 7; depth-- > 0;) {
            trees.emplace_back(depth, d, densities[depth % 4]);
            leaves.emplace_back(std::size_t{1} << depth, d, depth % 2 == 1 ? densities[depth % 3] : 0.0);
            weights.push_back(0.1 + 0.3 * static_cast<double>(depth));
        }
        for (std::size_t i = 0; i < trees.size(); ++i) views.push_back({trees[i].view(), leaves[i].view(), i % 2 == 1});
    }
    [[nodiscard]] std::size_t size() const { return trees.size(); }
};

/// What a forest says of some rows, tree by tree and row by row.
struct Answers {
    Ints nodes, labels;
    std::vector<double> votes, sums;

    Answers(std::size_t n_rows, const RandomForest& forest)
        : nodes(n_rows * forest.size()), labels(nodes.size()), votes(n_rows * n_outputs), sums(votes.size()) {}
    bool operator==(const Answers&) const = default;
};

Answers plain_answers(const DenseRows& rows, const RandomForest& forest) {
    Answers wanted(rows.n_rows, forest);
    Ints nodes(rows.n_rows), leaves(rows.n_rows);
    std::vector<double> outputs(rows.n_rows * n_outputs);
    for (std::size_t t = 0; t < forest.size(); ++t) {
        const TreeView& tree = forest.views[t].splits;
        apply_tree(rows, tree, 1, nodes);
        for (std::size_t n = 0; n < rows.n_rows; ++n)
            leaves[n] = static_cast<std::int32_t>(std::count(tree.left.begin(), tree.left.begin() + nodes[n], -1));
        linear_outputs(rows, leaves, forest.views[t].leaves, 1, outputs);
        for (std::size_t n = 0; n < rows.n_rows; ++n) {
            const double* of_row = outputs.data() + n * n_outputs;
            const auto label = std::max_element(of_row, of_row + n_outputs) - of_row;
            wanted.nodes[n * forest.size() + t] = nodes[n];
            wanted.labels[n * forest.size() + t] = static_cast<std::int32_t>(label);
            wanted.votes[n * n_outputs + static_cast<std::size_t>(label)] += forest.weights[t];
            for (std::size_t k = 0; k < n_outputs; ++k) wanted.sums[n * n_outputs + k] += forest.weights[t] * of_row[k];
        }
    }
    return wanted;
}

template <Design D>
Answers answers(const D& rows, const RandomForest& random, const Forest& forest, std::size_t n_threads) {
    Answers found(rows.n_rows, random);
    forest.apply(rows, n_threads, found.nodes);
    forest.labels(rows, n_threads, found.labels);
    forest.votes(rows, random.weights, n_threads, found.votes);
    forest.sums(rows, random.weights, false, n_threads, found.sums);
    return found;
}

/// Whole numbers from 0 to 255, half of them 0, so that rows can be bytes too.
Matrix byte_matrix(std::size_t n, std::size_t d, double density) {
    Random random(n, d);
    std::vector<float> values(n * d);
    for (float& value : values)
        if (random.uniform() < density) value = static_cast<float>(random.below(256));
    return {std::move(values), n, d};
}

void forest_equals_the_loop_over_trees() {
    for (std::size_t d : {1U, 8U, 9U, 16U, 17U, 32U, 33U, 65U, 200U})
        for (double density : {0.02, 0.5}) {
            const RandomForest random(d);
            const Forest forest(random.views, d, n_outputs);
            const Matrix x = byte_matrix(601, d, density);
            const std::vector<std::uint8_t> bytes(x.values.begin(), x.values.end());
            const ByteRows byte_rows{bytes.data(), x.n_rows, d};
            const Answers wanted = plain_answers(x.dense(), random);
            for (std::size_t n_threads : {0U, 1U, 3U}) {
                expect(answers(x.dense(), random, forest, n_threads) == wanted, "dense rows");
                expect(answers(byte_rows, random, forest, n_threads) == wanted, "byte rows");
                expect(answers(x.sparse(), random, forest, n_threads) == wanted, "sparse rows");
            }
        }
}

void few_rows_get_what_many_get() {
    for (std::size_t d : {5U, 40U, 700U}) {
        const RandomForest random(d);
        const Forest forest(random.views, d, n_outputs);
        const Matrix x = random_matrix(40, d, 0.5, d);
        const Answers all = answers(x.dense(), random, forest, 1);
        for (std::size_t first = 0; first < 40;) {
            const std::size_t count = std::min<std::size_t>(1 + first % 7, 40 - first);
            const DenseRows part{x.values.data() + first * d, count, d};
            const Answers found = answers(part, random, forest, 1);
            const auto nodes = std::span(all.nodes).subspan(first * random.size(), found.nodes.size());
            const auto sums = std::span(all.sums).subspan(first * n_outputs, found.sums.size());
            expect(std::ranges::equal(found.nodes, nodes), "leaves of a part");
            expect(std::ranges::equal(found.sums, sums), "sums of a part");
            first += count;
        }
    }
}

void blocks_end_where_they_should() {
    // More narrow rows than a block has, and very wide rows of which a block has few.
    const RandomForest narrow(3), wide(20000);
    const Matrix many = random_matrix(9001, 3, 1.0, 1);
    const Answers wanted = plain_answers(many.dense(), narrow);
    expect(answers(many.sparse(), narrow, Forest(narrow.views, 3, n_outputs), 2) == wanted, "many rows");
    const Matrix few = random_matrix(70, 20000, 0.002, 1);
    const Forest forest(wide.views, 20000, n_outputs);
    expect(answers(few.sparse(), wide, forest, 1) == answers(few.dense(), wide, forest, 1), "wide rows");
}

void no_rows_are_no_work() {
    const RandomForest random(4);
    const Matrix x({}, 0, 4);
    const Answers found = answers(x.dense(), random, Forest(random.views, 4, n_outputs), 2);
    expect(found.nodes.empty() && found.sums.empty(), "nothing comes out");
}

void softmax_makes_probabilities_of_linear_leaves_only() {
    const RandomForest random(6);
    const Forest forest(random.views, 6, n_outputs);
    const Matrix x = random_matrix(50, 6, 0.8, 3);
    for (std::size_t t = 0; t < random.size(); ++t) {
        std::vector<double> only(random.size(), 0.0), plain(150), chances(150);
        only[t] = 1.0;
        forest.sums(x.dense(), only, false, 1, plain);
        forest.sums(x.dense(), only, true, 1, chances);
        if (t % 2 == 0) {
            expect_equal(chances, plain, "constant leaves stay as they are");
            continue;
        }
        for (std::size_t n = 0; n < 50; ++n) {
            double total = 0.0;
            for (std::size_t k = 0; k < 3; ++k) total += std::exp(plain[3 * n + k]);
            for (std::size_t k = 0; k < 3; ++k)
                expect_near(chances[3 * n + k], std::exp(plain[3 * n + k]) / total, 1e-12, "chance");
        }
    }
}

void softmax_bears_large_scores() {
    std::vector<double> scores{1e308, -1e308, 1e308, 0.0, -5.0};
    kernels().softmax(scores);
    expect_equal(scores[0], 0.5, "half");
    expect_equal(scores[2], 0.5, "the other half");
    expect(scores[1] >= 0.0 && scores[1] < 1e-300, "nearly nothing");
}

/// Forests of one small tree whose arrays a test can break.
struct Parts {
    Ints left{1, -1, -1}, right{2, -1, -1}, indices{0}, leaf_indices{1};
    std::vector<double> bias{0.0, 0.0, 0.0}, values{1.0, 2.0};
    std::vector<std::int64_t> indptr{0, 1, 1, 1}, leaf_indptr{0, 0, 1};
    std::vector<float> weights{1.0F}, leaf_weights{1.0F};
    std::size_t n_features = 2, tree_features = 2, width = 1;
    bool is_linear = true;

    void build() const {
        const ForestTree tree{{left, right, bias, indptr, indices, weights, tree_features},
                              {values, leaf_indptr, leaf_indices, leaf_weights, width},
                              is_linear};
        const Forest forest(std::span(&tree, 1), n_features, 1);
    }
};

template <class Break>
void expect_refused(const Break& break_it, std::string_view claim) {
    Parts parts;
    break_it(parts);
    expect_throw<std::invalid_argument>([&] { parts.build(); }, claim);
}

void broken_forests_are_refused() {
    Parts().build();
    expect_throw<std::invalid_argument>([] { Forest({}, 1, 1); }, "no tree");
    expect_refused([](Parts& p) { p.left[0] = 7; }, "child out of range");
    expect_refused([](Parts& p) { p.left[0] = 0; }, "own child");
    expect_refused([](Parts& p) { p.n_features = 3; }, "other features");
    expect_refused([](Parts& p) { p.width = 2; }, "other outputs");
    expect_refused([](Parts& p) { p.width = 0; }, "no outputs");
    expect_refused([](Parts& p) { p.indices[0] = 2; }, "split feature out of range");
    expect_refused([](Parts& p) { p.leaf_indices[0] = -1; }, "leaf feature out of range");
    expect_refused([](Parts& p) { p.n_features = p.tree_features = ~std::size_t{0}; }, "too many features");
    expect_refused([](Parts& p) { p.leaf_indptr[1] = std::numeric_limits<std::int64_t>::max(); }, "indptr decreases");
    expect_refused([](Parts& p) { p.leaf_indptr.clear(); }, "no leaf indptr");
    expect_refused([](Parts& p) { p.leaf_weights.push_back(1.0F); }, "leaf weights left over");
    expect_refused([](Parts& p) { p.is_linear = false; }, "constant leaves with weights");
    expect_refused([](Parts& p) { p.values.push_back(3.0), p.leaf_indptr.push_back(1); }, "a leaf too many");
    expect_refused([](Parts& p) { p.values.pop_back(), p.leaf_indptr = {0, 1}; }, "a leaf too few");
    expect_refused(
        [](Parts& p) {
            p.indices = {0, 0};
            p.weights = {1.0F, 1.0F};
            p.indptr = {0, 2, 2, 2};
        },
        "feature twice");
}

}  // namespace

std::vector<Test> forest_tests() {
    return {{"a forest equals the loop over its trees", forest_equals_the_loop_over_trees},
            {"few rows get what many get", few_rows_get_what_many_get},
            {"blocks end where they should", blocks_end_where_they_should},
            {"no rows are no work", no_rows_are_no_work},
            {"softmax makes probabilities of linear leaves only", softmax_makes_probabilities_of_linear_leaves_only},
            {"softmax bears large scores", softmax_bears_large_scores},
            {"broken forests are refused", broken_forests_are_refused}};
}

}  // namespace spinney::test
