#include <algorithm>
#include <cmath>
#include <list>

#include "check.hpp"
#include "data.hpp"
#include "spinney/parallel.hpp"
#include "spinney/tao/optimizer.hpp"

namespace spinney::test {
namespace {

constexpr double start_length = 1e-3;

Topology complete(std::size_t depth) {
    const std::int32_t n_splits = (1 << depth) - 1;
    std::vector<std::int32_t> left, right;
    for (std::int32_t node = 0; node < 2 * n_splits + 1; ++node) {
        left.push_back(node < n_splits ? 2 * node + 1 : -1);
        right.push_back(node < n_splits ? 2 * node + 2 : -1);
    }
    return {left, right};
}

/// 0 -> (1, 2 -> (3 -> (5 -> (7, 8), 6), 4)): leaves at every depth.
Topology lopsided() {
    return {std::vector<std::int32_t>{1, -1, 3, 5, -1, 7, -1, -1, -1}, std::vector<std::int32_t>{2, -1, 4, 6, -1, 8, -1, -1, -1}};
}

/// What a tree can be asked to learn here.
enum class Goal { errors, log_loss, values, linear_classes, linear_values };
constexpr Goal all_goals[] = {Goal::errors, Goal::log_loss, Goal::values, Goal::linear_classes, Goal::linear_values};

/// A task with three noisy classes, or a noisy target, and everything an optimiser borrows.
template <Design D>
struct Setting {
    Matrix x;
    D rows;
    std::vector<double> weights, values;
    std::vector<std::int32_t> classes;
    Scaling scaling;
    std::vector<float> norms;
    mutable std::list<TrainingTable> tables;  ///< of the rows as they were when an optimiser was made

    Setting(std::size_t n, std::size_t d, std::uint64_t seed)
        : x(random_matrix(n, d, is_sparse<D> ? 0.2 : 0.9, seed)), rows(view(x)), weights(random_weights(n, seed)),
          scaling(scaling_of(x, weights, !is_sparse<D>)), norms(squared_norms(rows, scaling, 1)) {
        const auto first = random_labels(x, seed);
        const auto second = random_labels(x, seed + 1);
        for (std::size_t i = 0; i < n; ++i) {
            classes.push_back(first[i] > 0 ? 0 : (second[i] > 0 ? 1 : 2));
            values.push_back(first[i] + 0.1 * static_cast<double>(x.values[i * d]));
        }
    }
    /// Some rows of another setting, scaled as there.
    Setting(const Setting& whole, std::span<const std::uint32_t> kept)
        : x(rows_of(whole.x, kept)), rows(view(x)), scaling(whole.scaling), norms(squared_norms(rows, scaling, 1)) {
        for (std::uint32_t n : kept) {
            weights.push_back(whole.weights[n]);
            classes.push_back(whole.classes[n]);
            values.push_back(whole.values[n]);
        }
    }
    static Matrix rows_of(const Matrix& x, std::span<const std::uint32_t> kept) {
        std::vector<float> part;
        for (std::uint32_t n : kept)
            for (std::size_t j = 0; j < x.n_features; ++j) part.push_back(x.values[n * x.n_features + j]);
        return {std::move(part), kept.size(), x.n_features};
    }
    static D view(const Matrix& x) {
        if constexpr (is_sparse<D>)
            return x.sparse();
        else
            return x.dense();
    }
    [[nodiscard]] Targets targets(Goal goal) const {
        if (goal == Goal::values || goal == Goal::linear_values) return {{}, values, weights, 1};
        return {classes, {}, weights, 3};
    }
    [[nodiscard]] std::unique_ptr<Leaves> leaves(Goal goal, std::size_t n_leaves) const {
        const Targets wanted = targets(goal);
        if (goal == Goal::errors) return constant_class_leaves(wanted, n_leaves, ClassLoss::zero_one);
        if (goal == Goal::log_loss) return constant_class_leaves(wanted, n_leaves, ClassLoss::log_loss);
        if (goal == Goal::values) return constant_value_leaves(wanted, n_leaves, TargetLoss::absolute, 1.0);
        LinearLeafOptions options;
        options.solver.alpha = 0.2;
        return linear_leaves(rows, scaling, norms, wanted, n_leaves, options);
    }
    [[nodiscard]] TreeOptimizer<D> optimizer(Goal goal, SplitKind split, std::size_t n_threads, const Topology& topology,
                                             std::size_t max_features = 0, std::shared_ptr<RowState> state = nullptr) const {
        OptimizerOptions options;
        options.max_features = max_features;
        options.split = split;
        options.solver.alpha = 0.2;
        options.n_threads = n_threads;
        options.seed = 7;
        return {tables.emplace_back(rows),         scaling, targets(goal),   topology,
                leaves(goal, topology.n_leaves()), options, std::move(state)};
    }
};

template <class T>
std::vector<T> copied(std::span<const T> values) {
    return {values.begin(), values.end()};
}

template <Design D>
double value(TreeOptimizer<D>& tree) {
    const Objective found = tree.objective();
    return found.loss + found.penalty;
}

template <Design D>
void expect_guarded_steps_never_rise(const Setting<D>& setting, std::size_t max_features = 0) {
    for (SplitKind split : {SplitKind::oblique, SplitKind::axis})
        for (Goal goal : all_goals) {
            auto tree = setting.optimizer(goal, split, 1, goal == Goal::errors ? lopsided() : complete(3), max_features);
            tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
            double last = value(tree);
            const auto step = [&](std::string_view claim) {
                expect(value(tree) <= last + 1e-9 * (1.0 + last), claim);
                last = value(tree);
            };
            for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
                for (std::size_t depth = 0; depth < tree.topology().levels.size(); ++depth) {
                    tree.solve_level(depth, sweep, true, sweep % 2 == 0);
                    step("a guarded level never raises the objective");
                }
                tree.fit_leaves(sweep, true);
                step("guarded leaves never raise the objective");
            }
        }
}

void guarded_steps_never_raise_the_objective() {
    expect_guarded_steps_never_rise(Setting<DenseRows>(300, 6, 1));
    expect_guarded_steps_never_rise(Setting<SparseRows>(300, 6, 2));
    expect_guarded_steps_never_rise(Setting<DenseRows>(120, 110, 3));
    expect_guarded_steps_never_rise(Setting<SparseRows>(120, 110, 4));
    expect_guarded_steps_never_rise(Setting<DenseRows>(300, 6, 5), 2);
    expect_guarded_steps_never_rise(Setting<SparseRows>(120, 110, 6), 9);
}

/// Leaf rank of a row by the plain rule, from a node.
template <Design D>
std::size_t plain_leaf(const Setting<D>& setting, TreeOptimizer<D>& tree, std::size_t n, std::size_t node) {
    const Topology& shape = tree.topology();
    while (!shape.is_leaf(node)) {
        const auto split = static_cast<std::size_t>(shape.split_of_node[node]);
        const SplitTable& table = tree.state().splits;
        const double score = setting.rows.dot(n, table.weights.data() + split * setting.x.n_features) + table.bias[split];
        node = static_cast<std::size_t>(score >= 0.0 ? shape.right[node] : shape.left[node]);
    }
    return shape.first_leaf[node];
}

template <Design D>
void sweep_once(TreeOptimizer<D>& tree, std::uint64_t number, bool is_guarded, bool is_next_below = true) {
    for (std::size_t depth = 0; depth < tree.topology().levels.size(); ++depth)
        tree.solve_level(depth, number, is_guarded, is_next_below);
    tree.fit_leaves(number, is_guarded);
}

template <Design D>
void expect_rows_in_their_leaves(const Setting<D>& setting) {
    for (bool is_guarded : {false, true}) {
        auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 2, complete(4));
        tree.draw_splits({.kind = is_guarded ? StartKind::balanced : StartKind::random, .length = start_length});
        for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
            sweep_once(tree, sweep, is_guarded);
            double errors = 0.0;
            for (std::size_t n = 0; n < setting.x.n_rows; ++n) {
                const std::size_t leaf = tree.leaf_of()[n];
                expect_equal(leaf, plain_leaf(setting, tree, n, 0), "every row is in the leaf it walks to");
                const auto fractions = tree.state().leaves.values.begin() + static_cast<std::ptrdiff_t>(3 * leaf);
                const auto label = std::max_element(fractions, fractions + 3) - fractions;
                if (label != setting.classes[n]) errors += setting.weights[n];
            }
            expect_near(tree.objective().loss, errors, 1e-9 * (1.0 + errors), "the loss is the weight of the errors");
        }
    }
}

void leaves_partition_the_rows() {
    expect_rows_in_their_leaves(Setting<DenseRows>(3000, 5, 1));
    expect_rows_in_their_leaves(Setting<SparseRows>(3000, 5, 1));
}

void balanced_start_halves_the_weight() {
    const Setting<DenseRows> setting(1000, 5, 1);
    auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 1, complete(1));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    double left = 0.0;
    double total = 0.0;
    for (std::size_t n = 0; n < 1000; ++n) {
        total += setting.weights[n];
        if (tree.leaf_of()[n] == 0) left += setting.weights[n];
    }
    expect_near(left / total, 0.5, 0.01, "weight on the left");
}

/// One row, rows that are all alike, and classes or targets of a single value leave little to separate.
void supervised_start_takes_any_rows() {
    for (Goal goal : all_goals)
        for (std::size_t n : {1U, 2U, 300U}) {
            Setting<DenseRows> setting(n, 5, 1);
            for (bool is_alike : {false, true}) {
                if (is_alike) {
                    std::ranges::fill(setting.classes, 1);
                    std::ranges::fill(setting.values, 2.0);
                }
                auto tree = setting.optimizer(goal, SplitKind::oblique, 1, complete(4));
                tree.draw_splits({.kind = StartKind::supervised, .length = start_length});
                for (float w : tree.state().splits.weights) expect(std::isfinite(w), "finite weight");
                for (double b : tree.state().splits.bias) expect(std::isfinite(b), "finite bias");
            }
        }
}

void supervised_start_parts_every_node_it_can() {
    const Setting<SparseRows> setting(500, 5, 2);
    auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 1, complete(2));
    tree.draw_splits({.kind = StartKind::supervised, .length = start_length});
    for (std::size_t node = 1; node <= 2; ++node) expect(tree.count_reach(node) > 0, "rows on both sides");
}

void care_points_are_those_of_both_subtrees() {
    const Setting<DenseRows> setting(400, 5, 3);
    auto tree = setting.optimizer(Goal::log_loss, SplitKind::oblique, 2, complete(3));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    sweep_once(tree, 1, false);
    const auto leaves = setting.leaves(Goal::log_loss, tree.topology().n_leaves());
    leaves->set_table(tree.state().leaves);
    for (std::size_t node = 0; node < 7; ++node) {
        const CarePoints care = tree.care_points(node);
        std::size_t next = 0;
        for (std::size_t n : care.rows) {
            const auto loss = [&](std::int32_t child) {
                return leaves->loss(n, plain_leaf(setting, tree, n, static_cast<std::size_t>(child)));
            };
            const double left = loss(tree.topology().left[node]);
            const double right = loss(tree.topology().right[node]);
            expect_equal(static_cast<int>(care.labels[next]), right < left ? 1 : -1, "label of the cheaper side");
            expect_near(care.weights[next++], setting.weights[n] * std::fabs(left - right), 1e-12, "weight of the gain");
        }
    }
}

void restore_brings_the_kept_tree_back() {
    const Setting<DenseRows> setting(300, 5, 3);
    auto tree = setting.optimizer(Goal::linear_classes, SplitKind::oblique, 1, complete(2));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    const TreeState kept = tree.state();
    const double before = value(tree);
    const auto leaves_before = copied(tree.leaf_of());
    sweep_once(tree, 1, false);
    tree.restore(kept);
    expect_equal(value(tree), before, "objective");
    expect_equal(copied(tree.leaf_of()), leaves_before, "leaves of the rows");
    expect_equal(tree.state().splits.weights, kept.splits.weights, "hyperplanes");
}

void expect_same_states(const TreeState& found, const TreeState& wanted) {
    expect_equal(found.splits.weights, wanted.splits.weights, "hyperplanes");
    expect_equal(found.splits.bias, wanted.splits.bias, "biases");
    expect_equal(found.leaves.values, wanted.leaves.values, "leaf values");
    expect_equal(found.leaves.weights, wanted.leaves.weights, "leaf weights");
}

template <Design D>
void expect_same_for_any_threads(const Setting<D>& setting, Goal goal, SplitKind split) {
    TreeState found[2];
    for (std::size_t i = 0; i < 2; ++i) {
        auto tree = setting.optimizer(goal, split, i == 0 ? 1 : 3, complete(4));
        tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
        sweep_once(tree, 1, false);
        sweep_once(tree, 2, true);
        found[i] = tree.state();
    }
    expect_same_states(found[0], found[1]);
}

void threads_change_no_bit() {
    for (std::size_t d : {8U, 120U}) {  // both node solvers
        const Setting<DenseRows> dense(2500, d, 1);
        const Setting<SparseRows> sparse(2500, d, 1);
        for (Goal goal : all_goals) {
            expect_same_for_any_threads(dense, goal, SplitKind::oblique);
            expect_same_for_any_threads(sparse, goal, SplitKind::oblique);
        }
        expect_same_for_any_threads(dense, Goal::errors, SplitKind::axis);
        expect_same_for_any_threads(sparse, Goal::errors, SplitKind::axis);
    }
}

/// Two trees that share what they know of the rows, one step each in turn, told or not where the rows are.
template <Design D>
void expect_turns_change_nothing(const Setting<D>& setting, SplitKind split) {
    const auto state = std::make_shared<RowState>(setting.weights);
    for (bool is_told : {false, true}) {
        std::vector<TreeState> alone, in_turns;
        for (bool shares : {false, true}) {
            auto first = setting.optimizer(Goal::log_loss, split, 1, complete(3), 0, shares ? state : nullptr);
            auto second = setting.optimizer(Goal::values, split, 1, lopsided(), 0, shares ? state : nullptr);
            first.draw_splits({.kind = StartKind::balanced, .length = start_length});
            auto leaf_of = copied(first.leaf_of());
            second.draw_splits({.kind = StartKind::supervised, .length = start_length});
            for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
                if (is_told) first.take_turn(std::span<const std::uint32_t>(leaf_of), first.state().leaves);
                sweep_once(first, sweep, sweep == 3);
                leaf_of = copied(first.leaf_of());
                sweep_once(second, sweep, sweep == 3);
            }
            expect_equal(second.count_reach(0), first.count_reach(0), "both have all rows");
            (shares ? in_turns : alone) = std::vector<TreeState>{first.state(), second.state()};
        }
        for (std::size_t i = 0; i < 2; ++i) expect_same_states(in_turns[i], alone[i]);
    }
}

void trees_may_take_turns() {
    for (SplitKind split : {SplitKind::oblique, SplitKind::axis}) {
        expect_turns_change_nothing(Setting<DenseRows>(700, 5, 1), split);
        expect_turns_change_nothing(Setting<SparseRows>(700, 5, 2), split);
    }
}

/// Two trees of one scope, one after the other, may well have the same address.
void a_new_tree_brings_its_own_rows() {
    const Setting<DenseRows> setting(300, 4, 1);
    const auto state = std::make_shared<RowState>(setting.weights);
    for (bool is_drawn : {true, false}) {
        auto tree = setting.optimizer(Goal::values, SplitKind::oblique, 1, complete(2), 0, state);
        if (is_drawn) tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
        for (std::uint32_t n : tree.members())
            expect_equal(static_cast<std::size_t>(tree.leaf_of()[n]), plain_leaf(setting, tree, n, 0), "its own leaf");
    }
}

/// More rows than a block has: a pass over blocks by three threads, and rows of one leaf in several blocks.
void rows_lie_in_blocks() {
    const Setting<DenseRows> setting(2 * table_block + 500, 3, 1);
    for (SplitKind split : {SplitKind::oblique, SplitKind::axis})
        for (Goal goal : {Goal::log_loss, Goal::values, Goal::linear_classes}) expect_same_for_any_threads(setting, goal, split);
    auto tree = setting.optimizer(Goal::errors, SplitKind::axis, 1, complete(3));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    sweep_once(tree, 1, false);
    for (std::size_t n = 0; n < setting.x.n_rows; n += 7)
        expect_equal(static_cast<std::size_t>(tree.leaf_of()[n]), plain_leaf(setting, tree, n, 0),
                     "a row is in the leaf it walks to");
}

/// The state of a tree whose rows are padded.
TreeState widened_state(TreeState state, std::size_t d) {
    for (std::vector<float>* w : {&state.splits.weights, &state.leaves.weights})
        *w = widened(std::span<const float>(*w), d, padded_size(d));
    return state;
}

void padding_changes_no_bit() {
    for (std::size_t d : {5U, 19U, 110U})  // both node solvers
        for (Goal goal : all_goals)
            for (SplitKind split : {SplitKind::oblique, SplitKind::axis})
                for (std::size_t max_features : {std::size_t{0}, std::size_t{3}}) {
                    Setting<DenseRows> setting(300, d, 3);
                    const PaddedRows<float> rows = padded(setting.x);
                    TreeState found[3];
                    for (TreeState& state : found) {
                        auto tree = setting.optimizer(goal, split, 1, complete(3), max_features);
                        tree.draw_splits({.kind = StartKind::supervised, .length = start_length});
                        for (std::uint64_t sweep = 1; sweep <= 2; ++sweep) sweep_once(tree, sweep, sweep == 2);
                        tree.set_splits(tree.state().splits, tree.state().leaves);
                        state = tree.state();
                        setting.rows = &state == &found[0] ? rows.view() : overlapping(setting.x, rows);
                    }
                    expect_same_states(found[1], widened_state(found[0], d));
                    expect_same_states(found[2], found[1]);
                }
}

/// Looking ahead only saves a pass; asking for care points in between must not disturb it.
template <Design D>
void expect_looking_ahead_changes_nothing(const Setting<D>& setting, const Topology& topology) {
    TreeState found[3];
    for (std::size_t way = 0; way < 3; ++way) {
        auto tree = setting.optimizer(Goal::log_loss, SplitKind::oblique, 1, topology);
        tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
        for (std::uint64_t sweep = 1; sweep <= 2; ++sweep) {
            for (std::size_t depth = 0; depth < topology.levels.size(); ++depth) {
                tree.solve_level(depth, sweep, false, way > 0);
                if (way == 2) (void)tree.care_points(0);
            }
            tree.fit_leaves(sweep, false);
        }
        found[way] = tree.state();
    }
    for (std::size_t way : {1U, 2U}) {
        expect_equal(found[0].splits.weights, found[way].splits.weights, "hyperplanes");
    }
}

void looking_ahead_changes_nothing() {
    for (const Topology& topology : {complete(4), lopsided()}) {
        expect_looking_ahead_changes_nothing(Setting<DenseRows>(700, 6, 1), topology);
        expect_looking_ahead_changes_nothing(Setting<SparseRows>(700, 6, 1), topology);
    }
}

void interrupts_end_levels_and_leaves() {
    const Setting<DenseRows> setting(3000, 5, 1);
    auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 2, complete(4));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    {
        const Interruptible silent([] { return false; });
        tree.solve_level(0, 1, false, true);
    }
    const Interruptible stopped([] { return true; });
    expect_throw<Interrupted>([&] { tree.solve_level(0, 1, false, true); }, "a level says that it was interrupted");
    expect_throw<Interrupted>([&] { tree.fit_leaves(1, false); }, "the leaves say that they were interrupted");
}

template <Design D>
void expect_zero_weight_is_left_out(Setting<D> whole, std::size_t max_features) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t n = 0; n < whole.x.n_rows; ++n) {
        if (n % 3 == 1)
            whole.weights[n] = 0.0;
        else
            kept.push_back(n);
    }
    const Setting<D> part(whole, kept);
    for (SplitKind split : {SplitKind::oblique, SplitKind::axis})
        for (Goal goal : all_goals) {
            auto all = whole.optimizer(goal, split, 2, complete(3), max_features);
            auto few = part.optimizer(goal, split, 1, complete(3), max_features);
            for (auto* tree : {&all, &few}) {
                tree->draw_splits({.kind = StartKind::balanced, .length = start_length});
                sweep_once(*tree, 1, false);
                sweep_once(*tree, 2, true);
            }
            expect_equal(std::vector<std::uint32_t>(all.members().begin(), all.members().end()), kept, "members");
            expect_equal(all.count_reach(0), kept.size(), "rows at the root");
            expect_equal(all.state().splits.weights, few.state().splits.weights, "hyperplanes");
            expect_equal(all.state().splits.bias, few.state().splits.bias, "biases");
            expect_equal(all.state().leaves.values, few.state().leaves.values, "leaf values");
            expect_equal(all.state().leaves.weights, few.state().leaves.weights, "leaf weights");
            expect_equal(value(all), value(few), "objective");
            for (std::size_t i = 0; i < kept.size(); ++i)
                expect_equal(all.leaf_of()[kept[i]], few.leaf_of()[i], "leaves of the rows");
        }
}

void rows_of_weight_zero_are_left_out() {
    for (std::size_t max_features : {0U, 3U}) {
        expect_zero_weight_is_left_out(Setting<DenseRows>(400, 8, 1), max_features);
        expect_zero_weight_is_left_out(Setting<SparseRows>(400, 8, 2), max_features);
        expect_zero_weight_is_left_out(Setting<DenseRows>(150, 110, 3), max_features);
    }
}

template <Design D>
void expect_few_columns(const Setting<D>& setting, SplitKind split) {
    const std::size_t d = setting.x.n_features;
    auto tree = setting.optimizer(Goal::log_loss, split, 2, complete(3), 2);
    std::vector<char> is_used(7 * d, 0);
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    for (std::uint64_t sweep = 1; sweep <= 6; ++sweep) {
        for (std::size_t i = 0; i < 7 * d; ++i)
            if (tree.state().splits.weights[i] != 0.0F) is_used[i] = 1;
        sweep_once(tree, sweep, sweep > 3);
    }
    std::size_t n_different = 0;
    for (std::size_t node = 0; node < 7; ++node) {
        const auto* columns = is_used.data() + node * d;
        expect_equal(std::count(columns, columns + d, char{1}), std::ptrdiff_t{2}, "columns of a split in all sweeps");
        if (!std::equal(columns, columns + d, is_used.data())) ++n_different;
    }
    expect(n_different > 0, "splits have columns of their own");
}

void a_split_keeps_to_its_columns() {
    for (SplitKind split : {SplitKind::oblique, SplitKind::axis}) {
        expect_few_columns(Setting<DenseRows>(300, 6, 1), split);
        expect_few_columns(Setting<SparseRows>(300, 6, 2), split);
        expect_few_columns(Setting<DenseRows>(200, 110, 3), split);
    }
}

void as_many_columns_as_there_are_is_all() {
    const Setting<DenseRows> setting(300, 6, 1);
    std::vector<float> found[3];
    for (std::size_t i = 0; i < 3; ++i) {
        auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 1, complete(3), 6 * i);
        tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
        sweep_once(tree, 1, false);
        found[i] = tree.state().splits.weights;
    }
    expect_equal(found[0], found[1], "six of six columns");
    expect_equal(found[0], found[2], "twelve of six columns");
}

/// Another optimiser of the same task that is given splits, leaves and flags goes on as the first, to the bit.
template <Design D>
void expect_resumes(const Setting<D>& setting, Goal goal, SplitKind split, const Topology& topology) {
    auto first = setting.optimizer(goal, split, 1, topology);
    first.draw_splits({.kind = StartKind::random, .length = start_length});  // leaves that no row reaches among them
    for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
        sweep_once(first, sweep, false);
        auto second = setting.optimizer(goal, split, 2, topology);
        second.resume(first.state().splits, first.state().leaves, first.fitted());
        auto copy = setting.optimizer(goal, split, 1, topology);
        copy.resume(first.state().splits, first.state().leaves, first.fitted());
        for (auto* tree : {&second, &copy}) {
            expect_equal(copied(tree->leaf_of()), copied(first.leaf_of()), "leaves of the rows");
            expect_equal(copied(tree->loss_of()), copied(first.loss_of()), "losses of the rows");
            sweep_once(*tree, sweep + 1, false);
            sweep_once(*tree, sweep + 2, true);
        }
        expect_equal(second.state().splits.weights, copy.state().splits.weights, "hyperplanes of two resumed trees");
        auto whole = setting.optimizer(goal, split, 1, topology);
        whole.draw_splits({.kind = StartKind::random, .length = start_length});
        for (std::uint64_t number = 1; number <= sweep + 1; ++number) sweep_once(whole, number, false);
        sweep_once(whole, sweep + 2, true);
        expect_equal(second.state().splits.weights, whole.state().splits.weights, "hyperplanes");
        expect_equal(second.state().splits.bias, whole.state().splits.bias, "biases");
        expect_equal(second.state().leaves.values, whole.state().leaves.values, "leaf values");
        expect_equal(second.state().leaves.weights, whole.state().leaves.weights, "leaf weights");
        expect_equal(value(second), value(whole), "objective");
    }
}

void a_resumed_tree_goes_on_to_the_bit() {
    for (Goal goal : all_goals)
        for (SplitKind split : {SplitKind::oblique, SplitKind::axis}) {
            expect_resumes(Setting<DenseRows>(200, 5, 1), goal, split, complete(4));
            expect_resumes(Setting<SparseRows>(200, 8, 2), goal, split, lopsided());
        }
    expect_resumes(Setting<DenseRows>(120, 110, 3), Goal::linear_classes, SplitKind::oblique, complete(3));
}

void one_leaf_is_a_tree() {
    const Setting<DenseRows> setting(100, 4, 1);
    auto tree = setting.optimizer(Goal::errors, SplitKind::oblique, 1, complete(0));
    tree.draw_splits({.kind = StartKind::balanced, .length = start_length});
    sweep_once(tree, 1, true);
    expect_equal(tree.count_active(), std::size_t{0}, "no split");
    expect_equal(tree.objective().penalty, 0.0, "no penalty");
}

}  // namespace

std::vector<Test> optimizer_tests() {
    return {{"trees may take turns", trees_may_take_turns},
            {"a new tree brings its own rows", a_new_tree_brings_its_own_rows},
            {"rows lie in blocks, whatever the threads", rows_lie_in_blocks},
            {"guarded steps never raise the objective", guarded_steps_never_raise_the_objective},
            {"padding changes no bit", padding_changes_no_bit},
            {"leaves partition the rows", leaves_partition_the_rows},
            {"a balanced start halves the weight", balanced_start_halves_the_weight},
            {"a supervised start takes any rows", supervised_start_takes_any_rows},
            {"a supervised start parts every node it can", supervised_start_parts_every_node_it_can},
            {"care points are those of both subtrees", care_points_are_those_of_both_subtrees},
            {"restore brings the kept tree back", restore_brings_the_kept_tree_back},
            {"threads change no bit", threads_change_no_bit},
            {"looking ahead changes nothing", looking_ahead_changes_nothing},
            {"interrupts end levels and leaves", interrupts_end_levels_and_leaves},
            {"rows of weight zero are left out", rows_of_weight_zero_are_left_out},
            {"a split keeps to its columns", a_split_keeps_to_its_columns},
            {"as many columns as there are is all", as_many_columns_as_there_are_is_all},
            {"a resumed tree goes on to the bit", a_resumed_tree_goes_on_to_the_bit},
            {"one leaf is a tree", one_leaf_is_a_tree}};
}

}  // namespace spinney::test
