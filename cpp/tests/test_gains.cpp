#include "spinney/gains.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "trees.hpp"

namespace spinney::test {
namespace {

/// Rows through a random tree, with targets that follow the first column.
struct Fitted {
    Matrix x;
    RandomTree tree;
    Ints leaf_nodes, classes;
    std::vector<double> values, weights, leaf_values;
    std::vector<std::int64_t> no_leaf_weights;

    Fitted(std::size_t n, std::size_t d, double density, double tree_density)
        : x(random_matrix(n, d, density, 5)), tree(4, d, tree_density), weights(random_weights(n, 6)),
          leaf_values(2 * tree.left.size()), no_leaf_weights(2 * tree.left.size() + 1) {
        for (std::size_t row = 0; row < n; ++row) {
            leaf_nodes.push_back(tree.leaf({x.values.data() + row * d, d}));
            values.push_back(static_cast<double>(x.values[row * d]));
            classes.push_back(values.back() > 1.0 ? 1 : 0);
        }
    }
    [[nodiscard]] ForestTree view() const { return {tree.view(), {leaf_values, no_leaf_weights, {}, {}, 1}, false}; }
    [[nodiscard]] GainTask numbers() const { return {{}, values, 1, weights, weights, x.n_features}; }
    [[nodiscard]] GainTask codes() const { return {classes, {}, 2, weights, weights, x.n_features}; }
};

double total(const std::vector<double>& gains) { return std::accumulate(gains.begin(), gains.end(), 0.0); }

void gains_are_those_of_the_tree() {
    const Fitted f(400, 3, 1.0, 1.0);
    const ColumnGains found = column_gains(f.x.dense(), f.view(), f.leaf_nodes, f.numbers(), 1);
    // Loss of one constant less that of one constant a leaf: gains of splits add up to it.
    std::vector<double> w(f.tree.left.size()), wy(w.size());
    double squares = 0.0;
    for (std::size_t n = 0; n < f.values.size(); ++n) {
        w[static_cast<std::size_t>(f.leaf_nodes[n])] += f.weights[n];
        wy[static_cast<std::size_t>(f.leaf_nodes[n])] += f.weights[n] * f.values[n];
    }
    for (std::size_t node = 0; node < w.size(); ++node)
        if (w[node] > 0.0) squares += wy[node] * wy[node] / w[node];
    squares -= total(wy) * total(wy) / total(w);
    expect_near(total(found.all), squares, 1e-9 * squares, "gains of all columns are the decrease of the loss");
    expect(total(found.beyond_chance) <= total(found.all), "chance takes away");
    expect(*std::ranges::min_element(found.beyond_chance) >= 0.0, "no gain is negative");
}

void threads_and_storage_change_nothing() {
    for (const double density : {1.0, 0.2}) {
        const Fitted f(300, 6, density, 0.7);
        for (const GainTask& task : {f.numbers(), f.codes()}) {
            const ColumnGains one = column_gains(f.x.dense(), f.view(), f.leaf_nodes, task, 1);
            const ColumnGains three = column_gains(f.x.dense(), f.view(), f.leaf_nodes, task, 3);
            expect_equal(one.beyond_chance, three.beyond_chance, "the same bits for any number of threads");
            expect_equal(one.all, three.all, "the same bits for any number of threads");
            const ColumnGains sparse = column_gains(f.x.sparse(), f.view(), f.leaf_nodes, task, 2);
            for (std::size_t j = 0; j < 6; ++j) {
                expect_near(sparse.all[j], one.all[j], 1e-9 * total(one.all), "sparse rows, in all");
                expect_near(sparse.beyond_chance[j], one.beyond_chance[j], 1e-9 * total(one.all), "sparse rows");
            }
        }
    }
}

void tasks_that_do_not_fit_are_refused() {
    const Fitted f(20, 2, 1.0, 1.0);
    const auto refused = [&](const Ints& leaves, const GainTask& task, std::string_view claim) {
        expect_throw<std::invalid_argument>([&] { (void)column_gains(f.x.dense(), f.view(), leaves, task, 1); }, claim);
    };
    refused(Ints(19, 15), f.codes(), "too few leaves");
    refused(Ints(20, 0), f.codes(), "a split is no leaf");
    refused(Ints(20, 31), f.codes(), "no such node");
    GainTask task = f.codes();
    const Ints odd(20, 2);
    task.classes = odd;
    refused(f.leaf_nodes, task, "no such class");
    task = f.numbers();
    task.n_outputs = 2;
    refused(f.leaf_nodes, task, "too few targets");
}

}  // namespace

std::vector<Test> gains_tests() {
    return {
        {"gains_are_those_of_the_tree", gains_are_those_of_the_tree},
        {"threads_and_storage_change_nothing", threads_and_storage_change_nothing},
        {"tasks_that_do_not_fit_are_refused", tasks_that_do_not_fit_are_refused},
    };
}

}  // namespace spinney::test
