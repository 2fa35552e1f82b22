#include <cmath>

#include "check.hpp"
#include "leaf_task.hpp"
#include "spinney/leaf_system.hpp"
#include "spinney/parallel.hpp"

namespace spinney::test {
namespace {

struct RidgeTask : LeafTask {
    using LeafTask::LeafTask;
    [[nodiscard]] std::vector<double> solve(std::size_t direct_limit, double l2, std::size_t n_threads = 1) const {
        const LeafSystem system(design(), l2, direct_limit, n_threads);
        std::vector<double> values(n_leaves * n_outputs, 0.1);
        system.solve(targets, n_outputs, values, {.of_zero = 1e-9});
        return values;
    }
};

/// A' W (target - A v) = l2 v, term by term.
void solutions_meet_the_normal_equations() {
    for (const std::size_t direct_limit : {std::size_t{0}, RidgeTask::n_leaves})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const RidgeTask task(seed);
            const auto values = task.solve(direct_limit, 0.3);
            std::vector<double> slope(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) slope[i] = -0.3 * values[i];
            for (std::size_t n = 0; n < RidgeTask::n_rows; ++n)
                for (std::size_t k = 0; k < RidgeTask::n_outputs; ++k) {
                    double rest = task.targets[n * RidgeTask::n_outputs + k];
                    for (std::size_t t = 0; t < RidgeTask::n_trees; ++t)
                        rest -= values[task.leaves[t * RidgeTask::n_rows + n] * RidgeTask::n_outputs + k];
                    for (std::size_t t = 0; t < RidgeTask::n_trees; ++t)
                        slope[task.leaves[t * RidgeTask::n_rows + n] * RidgeTask::n_outputs + k] += task.weights[n] * rest;
                }
            for (const double s : slope) expect_near(s, 0.0, 1e-8, "normal equation");
        }
}

void empty_leaves_say_nothing() {
    for (const std::size_t direct_limit : {std::size_t{0}, RidgeTask::n_leaves}) {
        const auto values = RidgeTask(1).solve(direct_limit, 0.3);
        expect_near(values[(RidgeTask::leaves_per_tree - 1) * RidgeTask::n_outputs], 0.0, 1e-7, "value of an empty leaf");
    }
}

void threads_change_nothing() {
    for (const std::size_t direct_limit : {std::size_t{0}, RidgeTask::n_leaves}) {
        const RidgeTask task(2);
        expect(task.solve(direct_limit, 0.3, 1) == task.solve(direct_limit, 0.3, 4), "same bits");
    }
}

void next_to_no_penalty_is_no_trouble() {
    const RidgeTask task(3);
    for (const double value : task.solve(RidgeTask::n_leaves, 1e-9)) expect(std::isfinite(value), "finite");
}

/// In the middle of the factor, of the sums over rows and of the iterations.
void interrupts_end_the_work() {
    constexpr std::size_t n_rows = 3000, n_trees = 3, leaves_per_tree = 300;
    Random random(1);
    std::vector<std::uint32_t> leaves;
    for (std::size_t t = 0; t < n_trees; ++t)
        for (std::size_t n = 0; n < n_rows; ++n)
            leaves.push_back(static_cast<std::uint32_t>(t * leaves_per_tree + random.below(leaves_per_tree)));
    const auto weights = random_weights(n_rows, 1);
    const LeafDesign design{leaves, weights, n_trees, n_trees * leaves_per_tree, {}};
    const std::vector<double> targets(n_rows, 1.0);
    std::vector<double> values(design.n_leaves);
    for (const int patience : {0, 1, 20}) {
        int n_looks = 0;
        const Interruptible scope([&] { return n_looks++ >= patience; });
        expect_throw<Interrupted>([&] { LeafSystem(design, 0.1, design.n_leaves, 1); }, "a system that is factored");
    }
    const LeafSystem system(design, 0.1, 0, 1);
    for (const int patience : {0, 1, 20}) {
        int n_looks = 0;
        const Interruptible scope([&] { return n_looks++ >= patience; });
        expect_throw<Interrupted>([&] { system.solve(targets, 1, values, {.of_zero = 0.0}); }, "a system that is iterated");
    }
}

}  // namespace

std::vector<Test> leaf_system_tests() {
    return {{"interrupts end the work", interrupts_end_the_work},
            {"all leaves together meet the normal equations", solutions_meet_the_normal_equations},
            {"empty leaves say nothing", empty_leaves_say_nothing},
            {"threads do not change the solution", threads_change_nothing},
            {"next to no penalty is no trouble", next_to_no_penalty_is_no_trouble}};
}

}  // namespace spinney::test
