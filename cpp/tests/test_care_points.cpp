#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "spinney/rows_by_leaf.hpp"
#include "spinney/tao/care_points.hpp"
#include "trees.hpp"

namespace spinney::test {
namespace {

/// Six rows at a node above two leaves; rows 0 to 2 are on the left.
struct Node {
    std::vector<std::uint32_t> rows{0, 1, 2, 3, 4, 5}, leaf_of{0, 0, 0, 1, 1, 1};
    std::vector<double> loss{0.0, 2.0, 1.0, 1.0, 0.0, 3.0}, other{1.0, 0.5, 1.0, 0.0, 2.0, 3.0 + 1e-13},
        weights{1, 2, 3, 4, 5, 6};
    std::vector<std::int32_t> classes{0, 0, 1, 1, 1, 1};

    [[nodiscard]] Targets targets() const { return {classes, {}, weights, 2}; }
    [[nodiscard]] ReducedSet set() { return {rows, 0, 1, 2, leaf_of, loss, other}; }
    [[nodiscard]] double loss_on(bool is_right, std::size_t n) const {
        return is_right == (leaf_of[n] == 1) ? loss[n] : other[n];
    }
};

/// Boosted-tao, eqs. (3) and (4): what a split costs beyond the better child of every row is its weighted 0/1 loss.
void any_split_costs_its_care_points_on_the_wrong_side() {
    Node node;
    const CarePoints care = find_care_points(node.set(), node.targets());
    for (std::uint32_t sides = 0; sides < 64; ++sides) {
        const auto goes_right = [&](std::size_t n) { return (sides >> n & 1U) != 0; };
        double cost = 0.0;
        double wrong = 0.0;
        for (std::size_t n = 0; n < 6; ++n)
            cost += node.weights[n] * (node.loss_on(goes_right(n), n) - std::min(node.loss[n], node.other[n]));
        for (std::size_t i = 0; i < care.rows.size(); ++i)
            if (goes_right(care.rows[i]) != (care.labels[i] > 0)) wrong += care.weights[i];
        expect_near(cost, wrong, 1e-11, "cost of a split");
    }
}

void rows_of_equal_losses_are_left_out() {
    Node node;
    const CarePoints care = find_care_points(node.set(), node.targets());
    expect_equal(care.rows, std::vector<std::uint32_t>{0, 1, 3, 4}, "rows that care");
    expect(!care.are_one_sided(), "two sides");
    expect(CarePoints{}.are_one_sided(), "no care point wants any side");
}

/// Both leaves say class 0, so that no row cares; the rows of class 1 lose most.
void an_idle_child_takes_the_class_that_loses_most() {
    Node node;
    node.loss = node.other = {0.0, 0.0, 1.0, 1.0, 1.0, 1.0};
    const auto leaves = constant_class_leaves(node.targets(), 2, ClassLoss::zero_one);
    leaves->set_label(0, 0);
    leaves->set_label(1, 0);
    const CarePoints none = find_care_points(node.set(), node.targets());
    expect(none.rows.empty(), "nobody cares");
    expect(relabel_idle_child(node.set(), none, node.targets(), *leaves), "a child was idle");
    expect_equal(leaves->loss(3, 0), 0.0, "the lighter child says class 1");
    const CarePoints care = find_care_points(node.set(), node.targets());
    expect_equal(care.rows.size(), std::size_t{6}, "all care");
    for (std::size_t i = 0; i < 6; ++i)
        expect_equal(static_cast<int>(care.labels[i]), node.classes[care.rows[i]] == 1 ? -1 : 1, "side of the class");
}

/// The sets of the leaves part the rows that have weight; the set of a node is that of its children together.
void reduced_sets_part_the_rows() {
    const RandomTree tree(3, 2, 1.0);
    const Topology topology(tree.left, tree.right);
    Random random(5);
    std::vector<double> weights(200);
    std::vector<std::uint32_t> leaf_of(200);
    for (std::size_t n = 0; n < 200; ++n) {
        weights[n] = random.below(4);
        leaf_of[n] = random.below(static_cast<std::uint32_t>(topology.n_leaves()));
    }
    RowsByLeaf sorted(weights);
    sorted.sort(topology.n_leaves(), [&](std::uint32_t row) { return leaf_of[row]; }, 1);
    std::size_t n_rows = 0;
    for (std::size_t leaf = 0; leaf < topology.n_leaves(); ++leaf) {
        const auto rows = sorted.in_leaf(leaf).of_block(0);
        n_rows += rows.size();
        expect(std::ranges::is_sorted(rows), "rows of a leaf in their order");
        for (std::uint32_t row : rows) expect(leaf_of[row] == leaf && weights[row] > 0.0, "row of the leaf");
    }
    expect_equal(n_rows, sorted.members().size(), "all rows of weight");
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) {
        if (topology.is_leaf(node)) continue;
        const auto left = sorted.below(topology, static_cast<std::size_t>(topology.left[node])).of_block(0);
        const auto right = sorted.below(topology, static_cast<std::size_t>(topology.right[node])).of_block(0);
        const auto all = sorted.below(topology, node).of_block(0);
        expect(left.data() == all.data() && left.data() + left.size() == right.data() && left.size() + right.size() == all.size(),
               "children side by side");
    }
}

}  // namespace

std::vector<Test> care_points_tests() {
    return {{"any split costs its care points on the wrong side", any_split_costs_its_care_points_on_the_wrong_side},
            {"rows of equal losses are left out", rows_of_equal_losses_are_left_out},
            {"an idle child takes the class that loses most", an_idle_child_takes_the_class_that_loses_most},
            {"reduced sets part the rows", reduced_sets_part_the_rows}};
}

}  // namespace spinney::test
