#include <vector>

#include "check.hpp"
#include "leaf_task.hpp"
#include "spinney/leaf_lasso.hpp"
#include "spinney/leaf_system.hpp"

namespace spinney::test {
namespace {

/// The leaves of a task as numbers within each tree.
template <class Number>
struct NarrowTask {
    LeafTask task;
    std::vector<Number> numbers;
    std::vector<std::uint32_t> first_leaf;

    explicit NarrowTask(std::uint64_t seed) : task(seed) {
        for (const std::uint32_t leaf : task.leaves) numbers.push_back(static_cast<Number>(leaf % LeafTask::leaves_per_tree));
        for (std::uint32_t t = 0; t < LeafTask::n_trees; ++t) first_leaf.push_back(t * LeafTask::leaves_per_tree);
    }
    [[nodiscard]] LeafDesign design() const {
        return {std::span<const Number>(numbers), task.weights, LeafTask::n_trees, LeafTask::n_leaves, first_leaf};
    }
};

/// All that is asked of a design, one after the other.
std::vector<double> answers(const LeafDesign& design, const std::vector<double>& targets) {
    constexpr std::size_t n_outputs = LeafTask::n_outputs;
    std::vector<double> all = leaf_weights(design, 0.5);
    const auto note = [&](const std::vector<double>& found) { all.insert(all.end(), found.begin(), found.end()); };
    std::vector<double> values(LeafTask::n_leaves * n_outputs), sums(targets.size());
    collect(design, targets, n_outputs, values, 2);
    note(values);
    add_up(design, values, n_outputs, sums, 2);
    note(sums);
    note(shared_weights(design, 2));
    for (const std::size_t matrix_limit : {std::size_t{0}, LeafTask::n_leaves}) {
        LeafSystem(design, 0.3, matrix_limit, 2).solve(targets, n_outputs, values, {.of_zero = 1e-9});
        note(values);
        LeafLasso(design, 3.0, matrix_limit, 2).solve(targets, n_outputs, values, 1e-9);
        note(values);
    }
    return all;
}

template <class Number>
void expect_same_answers() {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const NarrowTask<Number> narrow(seed);
        expect(answers(narrow.design(), narrow.task.targets) == answers(narrow.task.design(), narrow.task.targets), "same bits");
    }
}

void numbers_of_any_width_say_the_same() {
    expect_same_answers<std::uint8_t>();
    expect_same_answers<std::uint16_t>();
    expect_same_answers<std::uint32_t>();
}

void trees_one_by_one_add_up() {
    constexpr std::size_t n_outputs = LeafTask::n_outputs, per_tree = LeafTask::leaves_per_tree;
    const NarrowTask<std::uint8_t> narrow(1);
    std::vector<double> values(LeafTask::n_leaves * n_outputs), together(LeafTask::n_rows * n_outputs);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
    add_up(narrow.design(), values, n_outputs, together, 1);
    std::vector<double> sums(together.size());
    const auto add = [&](double factor, std::size_t t) {
        const auto of_tree = std::span<const double>(values).subspan(t * per_tree * n_outputs, per_tree * n_outputs);
        narrow.design().visit(t, [&](auto leaf_of, std::size_t) { add_values(leaf_of, of_tree, n_outputs, factor, sums, 2); });
    };
    for (std::size_t t = 0; t < LeafTask::n_trees; ++t) add(1.0, t);
    expect(sums == together, "the sums of all trees");
    for (std::size_t t = 0; t < LeafTask::n_trees; ++t) add(-1.0, t);
    for (const double sum : sums) expect_near(sum, 0.0, 1e-12, "nothing is left");
}

}  // namespace

std::vector<Test> leaf_design_tests() {
    return {{"leaf numbers of any width say the same", numbers_of_any_width_say_the_same},
            {"trees one by one add up", trees_one_by_one_add_up}};
}

}  // namespace spinney::test
