#include <array>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "leaf_task.hpp"
#include "spinney/leaf_lasso.hpp"
#include "spinney/parallel.hpp"

namespace spinney::test {
namespace {

constexpr double l1 = 3.0;

/// Some rows without weight.
struct LassoTask : LeafTask {
    explicit LassoTask(std::uint64_t seed) : LeafTask(seed) {
        for (std::size_t n = 0; n < n_rows; n += 9) weights[n] = 0.0;
    }
    [[nodiscard]] std::vector<double> solve(std::size_t gram_limit, std::size_t n_threads = 1) const {
        std::vector<double> values(n_leaves * n_outputs, 0.1);
        LeafLasso(design(), l1, gram_limit, n_threads).solve(targets, n_outputs, values, 1e-12);
        return values;
    }
    /// A' W (target - A v)
    [[nodiscard]] std::vector<double> slopes(const std::vector<double>& values) const {
        std::vector<double> rows(n_rows * n_outputs), sums(values.size());
        add_up(design(), values, n_outputs, rows, 1);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = targets[i] - rows[i];
        collect(design(), rows, n_outputs, sums, 1);
        return sums;
    }
};

constexpr std::array<std::size_t, 2> both_ways{0, LassoTask::n_leaves};

/// The slope is l1 / 2 against the sign of a value, and at most that where the value is zero.
void solutions_meet_the_optimality_conditions() {
    for (const std::size_t gram_limit : both_ways)
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const LassoTask task(seed);
            const auto values = task.solve(gram_limit);
            const auto slopes = task.slopes(values);
            std::size_t n_zero = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (i / LassoTask::n_outputs % LassoTask::leaves_per_tree == LassoTask::leaves_per_tree - 1) continue;
                if (values[i] == 0.0)
                    expect(std::fabs(slopes[i]) <= 0.5 * l1 + 1e-6, "slope at zero");
                else
                    expect_near(slopes[i], std::copysign(0.5 * l1, values[i]), 1e-6, "slope of a value");
                n_zero += values[i] == 0.0;
            }
            expect(n_zero > 0, "some values are zero");
        }
}

void leaves_without_weight_keep_their_values() {
    for (const std::size_t gram_limit : both_ways)
        expect_equal(LassoTask(1).solve(gram_limit)[(LassoTask::leaves_per_tree - 1) * LassoTask::n_outputs], 0.1, "kept");
}

void threads_change_nothing() {
    for (const std::size_t gram_limit : both_ways)
        expect(LassoTask(2).solve(gram_limit, 1) == LassoTask(2).solve(gram_limit, 4), "same bits");
}

void signals_end_the_work() {
    const LassoTask task(3);
    std::vector<double> values(LassoTask::n_leaves * LassoTask::n_outputs);
    for (const std::size_t gram_limit : both_ways) {
        const LeafLasso lasso(task.design(), l1, gram_limit, 2);
        const Interruptible stopped([] { return true; });
        expect_throw<Interrupted>([&] { lasso.solve(task.targets, LassoTask::n_outputs, values, 0.0); }, "interrupted");
    }
}

void a_leaf_of_two_trees_is_refused() {
    LassoTask task(4);
    task.leaves.back() = task.leaves.front();
    expect_throw<std::invalid_argument>([&] { return LeafLasso(task.design(), l1, 0, 1); }, "one tree a leaf");
}

}  // namespace

std::vector<Test> leaf_lasso_tests() {
    return {{"leaves with an absolute penalty meet the optimality conditions", solutions_meet_the_optimality_conditions},
            {"leaves without weight keep their values", leaves_without_weight_keep_their_values},
            {"threads do not change sparse leaves", threads_change_nothing},
            {"signals end the descent", signals_end_the_work},
            {"a leaf of two trees is refused", a_leaf_of_two_trees_is_refused}};
}

}  // namespace spinney::test
