/// The worked examples of docs/extend: a split, a loss and a leaf that are no part of the library. The pages show what is between
/// the marks, word for word.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "check.hpp"
#include "data.hpp"
#include "spinney/grow/grower.hpp"
#include "spinney/parallel.hpp"
#include "spinney/tao/optimizer.hpp"

namespace spinney::test {
namespace {

// [split]
/// The best of random directions over all columns.
template <Design D>
class GaussianRule final : public SplitRule<D> {
  public:
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        Hyperplane best;
        Cut best_cut;
        for (std::size_t k = 0; k < site.n_candidates; ++k) {
            check_stop();  // Ctrl-C
            Hyperplane plane = draw(site, random);
            const Cut cut = cut_along(site, plane);  // moves the bias to the best threshold
            if (!cut.is_found || (best_cut.is_found && !(cut.cost < best_cut.cost - site.targets.rounding()))) continue;
            best_cut = cut;
            best = std::move(plane);
        }
        return best;
    }

  private:
    static Hyperplane draw(const GrowSite<D>& site, Random& random) {
        Hyperplane plane;
        for (std::uint32_t column : site.columns) {
            plane.columns.push_back(column);
            // Drawn where all columns count alike, told in raw features.
            plane.weights.push_back(static_cast<float>(random.normal() * site.scaling.inverse_scale[column]));
        }
        return plane;
    }
};
// [end of split]

// [loss]
/// One number a leaf under the pinball loss, max(q r, (q - 1) r) of r = y - leaf: the q-th quantile of its rows.
class QuantileLeaves final : public Leaves {
  public:
    QuantileLeaves(const Targets& targets, std::size_t n_leaves, double quantile) : targets_(targets), quantile_(quantile) {
        n_leaves_ = n_leaves;
        n_outputs_ = 1;
        table_.values.assign(n_leaves, 0.0);
    }

    double loss(std::size_t row, std::size_t leaf) const override {
        const double residual = targets_.values[row] - table_.values[leaf];
        return std::max(quantile_ * residual, (quantile_ - 1.0) * residual);
    }

    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        if (rows.empty()) return;
        std::vector<std::uint32_t> order(rows.begin(), rows.end());
        std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return targets_.values[row]; });
        double wanted = 0.0;
        for (std::uint32_t row : order) wanted += quantile_ * targets_.weights[row];
        double below = 0.0;
        for (std::uint32_t row : order) {
            table_.values[leaf] = targets_.values[row];
            below += targets_.weights[row];
            if (below >= wanted) return;
        }
    }

    double penalty(std::size_t) const override { return 0.0; }

  private:
    Targets targets_;
    double quantile_;
};
// [end of loss]

// [leaf]
/// Class fractions of the log loss that are never zero: as if `prior` rows of every class were in every leaf.
class SmoothLeaves final : public Leaves {
  public:
    SmoothLeaves(const Targets& targets, std::size_t n_leaves, double prior) : targets_(targets), prior_(prior) {
        n_leaves_ = n_leaves;
        n_outputs_ = targets.n_outputs;
        table_.values.assign(n_leaves * n_outputs_, 1.0 / static_cast<double>(n_outputs_));
    }

    double loss(std::size_t row, std::size_t leaf) const override {
        return -std::log(table_.values[leaf * n_outputs_ + static_cast<std::size_t>(targets_.classes[row])]);
    }

    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        const std::span<double> fractions(table_.values.data() + leaf * n_outputs_, n_outputs_);
        std::ranges::fill(fractions, prior_);
        for (std::uint32_t row : rows) fractions[static_cast<std::size_t>(targets_.classes[row])] += targets_.weights[row];
        const double total = std::accumulate(fractions.begin(), fractions.end(), 0.0);
        for (double& fraction : fractions) fraction /= total;
    }

    /// The loss of those `prior` rows. With it `fit` is the least of loss and penalty, which guarded steps rely on.
    double penalty(std::size_t leaf) const override {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) sum -= prior_ * std::log(table_.values[leaf * n_outputs_ + k]);
        return sum;
    }

  private:
    Targets targets_;
    double prior_;
};
// [end of leaf]

constexpr std::size_t n_rows = 200, n_features = 4, n_classes = 2;

struct Data {
    Matrix x = random_matrix(n_rows, n_features, 1.0, 3);
    std::vector<double> weights = random_weights(n_rows, 3), values;
    std::vector<std::int32_t> classes;
    Scaling scaling = scaling_of(x, weights, true);
    DenseRows rows = x.dense();
    TrainingTable table{rows};

    Data() {
        Random random(3, 5);
        for (std::int8_t label : random_labels(x, 3)) {
            classes.push_back(label > 0 ? 1 : 0);
            values.push_back(static_cast<double>(label) + random.normal());
        }
    }
    [[nodiscard]] Targets of_classes() const { return {classes, {}, weights, n_classes}; }
    [[nodiscard]] Targets of_values() const { return {{}, values, weights, 1}; }
};

void a_new_split_grows_pure_leaves_the_same_for_any_threads() {
    const Data data;
    GrowOptions options;
    options.n_candidates = 5;
    const GrownTree tree = grow_tree(data.rows, data.scaling, data.of_classes(), GaussianRule<DenseRows>(), options);
    expect(std::ranges::all_of(tree.leaf_values, [](double share) { return share == 0.0 || share == 1.0; }), "leaves are pure");
    // Every hyperplane has all columns: none was replaced by the best column.
    const std::size_t n_splits = tree.left.size() - tree.leaf_values.size() / n_classes;
    expect_equal(tree.weights.size(), n_splits * n_features, "splits are the rule's own");
    options.n_threads = 3;
    const GrownTree again = grow_tree(data.rows, data.scaling, data.of_classes(), GaussianRule<DenseRows>(), options);
    expect(again.left == tree.left && again.weights == tree.weights && again.bias == tree.bias, "threads change nothing");
}

/// Sweeps over a tree of four leaves, the objective looked at after every step.
TreeOptimizer<DenseRows> optimized(const Data& data, const Targets& targets, std::unique_ptr<Leaves> leaves) {
    const Topology topology{std::vector<std::int32_t>{1, 3, 5, -1, -1, -1, -1},
                            std::vector<std::int32_t>{2, 4, 6, -1, -1, -1, -1}};
    OptimizerOptions options;
    options.solver.alpha = 0.1;
    TreeOptimizer<DenseRows> tree(data.table, data.scaling, targets, topology, std::move(leaves), options);
    tree.draw_splits({.kind = StartKind::balanced, .length = 1e-3});
    const auto value = [&] { return tree.objective().loss + tree.objective().penalty; };
    const double first = value();
    double last = first;
    for (std::uint64_t sweep = 1; sweep <= 5; ++sweep) {
        for (std::size_t depth = 0; depth < topology.levels.size(); ++depth) tree.solve_level(depth, sweep, true, false);
        tree.fit_leaves(sweep, true);
        expect(value() <= last * (1.0 + 1e-12), "a guarded sweep never raises the objective");
        last = value();
    }
    expect(last < 0.95 * first, "the tree learns");
    return tree;
}

void a_new_loss_is_minimised_by_the_optimiser() {
    const Data data;
    constexpr double quantile = 0.8;
    auto tree = optimized(data, data.of_values(), std::make_unique<QuantileLeaves>(data.of_values(), 4, quantile));
    for (std::size_t leaf = 0; leaf < 4; ++leaf) {
        double below = 0.0, up_to = 0.0, total = 0.0;
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (tree.leaf_of()[row] != leaf) continue;
            const double difference = data.values[row] - tree.state().leaves.values[leaf];
            below += difference < 0.0 ? data.weights[row] : 0.0;
            up_to += difference <= 0.0 ? data.weights[row] : 0.0;
            total += data.weights[row];
        }
        expect(below <= quantile * total + 1e-9 && up_to >= quantile * total - 1e-9, "a leaf holds the quantile of its rows");
    }
}

void a_new_leaf_is_fitted_by_the_optimiser() {
    const Data data;
    const auto tree = optimized(data, data.of_classes(), std::make_unique<SmoothLeaves>(data.of_classes(), 4, 0.5));
    for (std::size_t leaf = 0; leaf < 4; ++leaf) {
        const double first = tree.state().leaves.values[leaf * n_classes];
        const double second = tree.state().leaves.values[leaf * n_classes + 1];
        expect(first > 0.0 && second > 0.0, "no class is impossible");
        expect_near(first + second, 1.0, 1e-12, "fractions sum to one");
    }
}

}  // namespace

std::vector<Test> extend_tests() {
    return {{"a new split grows pure leaves, the same for any threads", a_new_split_grows_pure_leaves_the_same_for_any_threads},
            {"a new loss is minimised by the optimiser", a_new_loss_is_minimised_by_the_optimiser},
            {"a new leaf is fitted by the optimiser", a_new_leaf_is_fitted_by_the_optimiser}};
}

}  // namespace spinney::test
