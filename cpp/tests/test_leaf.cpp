#include <algorithm>
#include <functional>

#include "check.hpp"
#include "data.hpp"
#include "spinney/leaf.hpp"

namespace spinney::test {
namespace {

constexpr double delta = 0.7;

double total_loss(std::span<const double> values, std::span<const double> weights, TargetLoss kind, double at) {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * target_loss(kind, delta, values[i] - at);
    return sum;
}

/// The losses are convex, so a point that no nearby and no far point beats is the minimiser.
void expect_minimiser(double found, const std::function<double(double)>& cost) {
    const double least = cost(found);
    for (double distance = 1e-7; distance < 10.0; distance *= 3.0)
        for (double other : {found - distance, found + distance})
            expect(least <= cost(other) + 1e-12 * (1.0 + least), "no point is better");
    expect(least <= cost(0.0) + 1e-12 * (1.0 + least), "zero is not better");
}

void best_constants_are_minimisers(LeafPenalty penalty) {
    for (TargetLoss kind : {TargetLoss::squared, TargetLoss::absolute, TargetLoss::huber})
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            Random random(seed);
            const std::size_t n = 1 + random.below(40);
            std::vector<double> values(n);
            for (double& value : values) value = seed % 2 == 0 ? random.normal() : std::round(3.0 * random.normal());
            const auto weights = random_weights(n, seed);
            expect_minimiser(best_constant(values, weights, kind, delta, penalty),
                             [&](double at) { return total_loss(values, weights, kind, at) + penalty.of(at); });
        }
}
void plain_constants_are_minimisers() { best_constants_are_minimisers({}); }
void penalised_constants_are_minimisers() {
    for (const LeafPenalty penalty :
         {LeafPenalty{0.0, 0.5}, LeafPenalty{2.0, 0.0}, LeafPenalty{0.0, 1e3}, LeafPenalty{1e3, 0.0}, LeafPenalty{1.0, 1.0}})
        best_constants_are_minimisers(penalty);
}

/// Scores that are left to a tree, for classes of a few rows.
struct ScoreTask {
    std::vector<std::int32_t> classes;
    std::vector<double> values, weights;
    explicit ScoreTask(std::uint64_t seed) : values(36), weights(random_weights(12, seed)) {
        Random random(seed);
        for (std::size_t n = 0; n < 12; ++n) classes.push_back(static_cast<std::int32_t>(random.below(3)));
        for (double& value : values) value = random.normal();
    }
    [[nodiscard]] Targets targets() const { return {classes, values, weights, 3}; }
};

void hinge_loss_counts_only_the_wrong_side() {
    const ScoreTask task(1);
    const auto leaves = score_leaves(task.targets(), 2, ScoreLoss::squared_hinge, {});
    leaves->set_table({{0.3, -0.2, 0.1, 0.0, 0.0, 0.0}, {}});
    for (std::size_t n = 0; n < 12; ++n) {
        double wanted = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double gap = leaves->table().values[k] - task.values[n * 3 + k];
            const bool is_wrong = static_cast<std::size_t>(task.classes[n]) == k ? gap < 0.0 : gap > 0.0;
            if (is_wrong) wanted += gap * gap;
        }
        expect_near(leaves->loss(n, 0), wanted, 1e-14, "loss of a row");
    }
}

void score_leaves_are_minimisers() {
    for (const ScoreLoss loss : {ScoreLoss::squared_hinge, ScoreLoss::log_loss})
        for (const LeafPenalty penalty : {LeafPenalty{0.0, 0.7}, LeafPenalty{0.4, 0.0}, LeafPenalty{0.2, 0.3}})
            for (std::uint64_t seed = 0; seed < 10; ++seed) {
                const ScoreTask task(seed);
                const auto leaves = score_leaves(task.targets(), 1, loss, penalty);
                const std::vector<std::uint32_t> rows{0, 2, 3, 5, 7, 8, 11};
                const auto cost = [&] {
                    double sum = leaves->penalty(0);
                    for (std::uint32_t row : rows) sum += task.weights[row] * leaves->loss(row, 0);
                    return sum;
                };
                double last = cost();
                for (int round = 0; round < 60; ++round) {
                    leaves->fit(0, rows, Random(0));
                    expect(cost() <= last + 1e-12, "a refit never makes it worse");
                    last = cost();
                }
                const auto found = leaves->row(0);
                for (std::size_t k = 0; k < 3; ++k)
                    for (const double step : {-1e-2, -1e-4, 1e-4, 1e-2}) {
                        auto moved = found;
                        moved.values[k] += step;
                        leaves->set_row(0, moved);
                        expect(last <= cost() + 1e-9, "no score is better");
                    }
            }
}

void median_takes_the_lower_of_two() {
    const std::vector<double> values{4.0, 1.0, 3.0, 2.0}, weights(4, 1.0);
    expect_equal(best_constant(values, weights, TargetLoss::absolute, 1.0), 2.0, "lower weighted median");
}

struct ClassTask {
    std::vector<std::int32_t> classes{0, 1, 1, 2, 1, 0};
    std::vector<double> weights{1.0, 2.0, 1.0, 0.5, 0.5, 3.0};
    [[nodiscard]] Targets targets() const { return {classes, {}, weights, 3}; }
};

void class_leaves_hold_weighted_fractions() {
    const ClassTask task;
    const auto leaves = constant_class_leaves(task.targets(), 2, ClassLoss::zero_one);
    const std::vector<std::uint32_t> rows{1, 2, 3, 5};
    leaves->fit(1, rows, Random(0));
    const auto fractions = leaves->row(1).values;
    const std::vector<double> wanted{3.0 / 6.5, 3.0 / 6.5, 0.5 / 6.5};
    for (std::size_t k = 0; k < 3; ++k) expect_near(fractions[k], wanted[k], 1e-15, "fraction");
    expect_equal(leaves->loss(0, 1), 0.0, "the first of two equal classes wins");
    expect_equal(leaves->loss(1, 1), 1.0, "the second loses");
    const auto smooth = constant_class_leaves(task.targets(), 2, ClassLoss::log_loss);
    smooth->fit(1, rows, Random(0));
    expect_near(smooth->loss(3, 1), -std::log(0.5 / 6.5), 1e-15, "log loss");
    smooth->fit(0, std::vector<std::uint32_t>{0, 5}, Random(0));
    expect_near(smooth->loss(1, 0), -std::log(probability_floor), 1e-15, "an unseen class has a floor");
}

void empty_leaf_keeps_its_value() {
    const ClassTask task;
    const auto leaves = constant_class_leaves(task.targets(), 2, ClassLoss::zero_one);
    const auto before = leaves->row(0).values;
    leaves->fit(0, {}, Random(0));
    expect_equal(leaves->row(0).values, before, "fractions");
}

void rows_of_the_table_can_be_put_back() {
    const ClassTask task;
    const auto leaves = constant_class_leaves(task.targets(), 2, ClassLoss::zero_one);
    const std::vector<std::uint32_t> first{0, 5}, second{1, 2};
    leaves->fit(1, first, Random(0));
    const LeafTable kept = leaves->row(1);
    leaves->fit(1, second, Random(0));
    leaves->set_row(1, kept);
    expect_equal(leaves->row(1).values, kept.values, "values");
    expect_equal(leaves->loss(0, 1), 0.0, "losses follow the values");
}

void value_leaves_fit_each_output_alone() {
    const std::vector<double> values{1.0, 10.0, 2.0, 20.0, 6.0, 30.0}, weights{1.0, 1.0, 2.0};
    const Targets targets{{}, values, weights, 2};
    const auto leaves = constant_value_leaves(targets, 1, TargetLoss::squared, 1.0);
    leaves->fit(0, all_rows(3), Random(0));
    expect_near(leaves->row(0).values[0], 3.75, 1e-15, "first mean");
    expect_near(leaves->row(0).values[1], 22.5, 1e-15, "second mean");
    expect_near(leaves->loss(0, 0), 2.75 * 2.75 + 12.5 * 12.5, 1e-12, "losses of the outputs are added");
}

/// Regression with few columns is solved by Newton, so the residuals are orthogonal to the columns.
void unpenalised_linear_leaf_meets_the_normal_equations() {
    const Matrix x = random_matrix(80, 4, 1.0, 1);
    const auto weights = random_weights(80, 2);
    Random random(5);
    std::vector<double> values(80);
    for (double& value : values) value = random.normal();
    const Scaling scaling = scaling_of(x, weights, true);
    const DenseRows rows = x.dense();
    const Targets targets{{}, values, weights, 1};
    const std::vector<float> norms = squared_norms(rows, scaling, 1);
    LinearLeafOptions options;
    options.solver.max_newton = 50;
    options.solver.tolerance = 1e-12;
    const auto leaves = linear_leaves(rows, scaling, norms, targets, 1, options);
    leaves->fit(0, all_rows(80), Random(0));
    const LeafTable table = leaves->row(0);
    std::vector<double> residual(80);
    for (std::size_t n = 0; n < 80; ++n) residual[n] = values[n] - rows.dot(n, table.weights.data()) - table.values[0];
    double sum = 0.0;
    for (std::size_t n = 0; n < 80; ++n) sum += weights[n] * residual[n];
    expect_near(sum, 0.0, 1e-3, "residuals add to zero");
    for (std::size_t j = 0; j < 4; ++j) {
        double slope = 0.0;
        for (std::size_t n = 0; n < 80; ++n) slope += weights[n] * residual[n] * static_cast<double>(x.values[4 * n + j]);
        expect_near(slope, 0.0, 1e-2, "residuals are orthogonal to a column");
    }
}

void softmax_leaf_never_predicts_an_unseen_class() {
    const Matrix x = random_matrix(60, 3, 1.0, 1);
    const std::vector<double> weights(60, 1.0);
    std::vector<std::int32_t> classes(60);
    for (std::size_t n = 0; n < 60; ++n) classes[n] = x.values[3 * n] > 0.5F ? 2 : 0;
    classes[59] = 1;
    const Scaling scaling = scaling_of(x, weights, true);
    const DenseRows rows = x.dense();
    const std::vector<float> norms = squared_norms(rows, scaling, 1);
    LinearLeafOptions options;
    options.class_loss = ClassLoss::zero_one;
    options.solver.alpha = 0.1;
    options.solver.epochs = 30;
    const auto leaves = linear_leaves(rows, scaling, norms, Targets{classes, {}, weights, 3}, 1, options);
    leaves->fit(0, all_rows(59), Random(0));
    double errors = 0.0;
    for (std::size_t n = 0; n < 59; ++n) errors += leaves->loss(n, 0);
    expect(errors <= 6.0, "two classes are told apart");
    expect_equal(leaves->loss(59, 0), 1.0, "the class that was not there is not predicted");
}

}  // namespace

std::vector<Test> leaf_tests() {
    return {{"best constants are minimisers", plain_constants_are_minimisers},
            {"penalised constants are minimisers", penalised_constants_are_minimisers},
            {"the squared hinge counts only the wrong side", hinge_loss_counts_only_the_wrong_side},
            {"score leaves are minimisers", score_leaves_are_minimisers},
            {"the median takes the lower of two", median_takes_the_lower_of_two},
            {"class leaves hold weighted fractions", class_leaves_hold_weighted_fractions},
            {"an empty leaf keeps its value", empty_leaf_keeps_its_value},
            {"rows of the table can be put back", rows_of_the_table_can_be_put_back},
            {"value leaves fit each output alone", value_leaves_fit_each_output_alone},
            {"a linear leaf meets the normal equations", unpenalised_linear_leaf_meets_the_normal_equations},
            {"a softmax leaf never predicts an unseen class", softmax_leaf_never_predicts_an_unseen_class}};
}

}  // namespace spinney::test
