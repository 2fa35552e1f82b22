#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "spinney/route.hpp"
#include "trees.hpp"

namespace spinney::test {
namespace {

/// A tree of five nodes: root 0 with the leaf 1 and the split 2, whose children are the leaves 3 and 4.
struct SmallTree {
    Ints left{1, -1, 3, -1, -1}, right{2, -1, 4, -1, -1};
    std::vector<double> bias{0.5, 0.0, -1.0, 0.0, 0.0};
    std::vector<std::int64_t> indptr{0, 1, 1, 3, 3, 3};
    Ints indices{0, 0, 1};
    std::vector<float> weights{1.0F, -1.0F, 2.0F};
    std::size_t n_features = 2;

    [[nodiscard]] TreeView view() const { return {left, right, bias, indptr, indices, weights, n_features}; }
};

void topology_ranks_leaves_from_left_to_right() {
    // 0 -> (1 -> (3, 4 -> (5, 6)), 2): leaves from left to right are 3, 5, 6, 2.
    const Topology shape(Ints{1, 3, -1, -1, 5, -1, -1}, Ints{2, 4, -1, -1, 6, -1, -1});
    expect_equal(shape.leaf_node, std::vector<std::size_t>{3, 5, 6, 2}, "leaves by rank");
    expect_equal(shape.n_splits, std::size_t{3}, "splits");
    expect_equal(shape.depth, std::vector<std::size_t>{0, 1, 1, 2, 2, 3, 3}, "depths");
    expect_equal(shape.levels, std::vector<Ints>{{0}, {1}, {4}}, "splits by depth");
    expect_equal(shape.first_leaf, std::vector<std::size_t>{0, 0, 3, 0, 1, 1, 2}, "first leaf below");
    expect_equal(shape.end_leaf, std::vector<std::size_t>{4, 3, 4, 1, 3, 2, 3}, "end of the leaves below");
    expect_equal(shape.child, Ints{1, ~3, ~0, 2, ~1, ~2}, "children as walk wants them");
    expect_equal(shape.middle(0), std::size_t{3}, "first leaf on the right of the root");
}

void one_leaf_is_a_topology() {
    const Topology shape(Ints{-1}, Ints{-1});
    expect_equal(shape.n_leaves(), std::size_t{1}, "one leaf");
    expect(shape.levels.empty(), "no level");
    expect_equal(shape.code(0), ~0, "the root is leaf 0");
}

void broken_shapes_are_refused() {
    const auto refused = [](const Ints& left, const Ints& right, std::string_view claim) {
        expect_throw<std::invalid_argument>([&] { Topology(left, right); }, claim);
    };
    refused({}, {}, "no node");
    refused({-1}, {-1, -1}, "lengths");
    refused({1, -1, -1}, {-1, -1, -1}, "one child");
    refused({1, -1, -1}, {3, -1, -1}, "child out of range");
    refused({0, -1, -1}, {1, -1, -1}, "own child");
    refused({1, -1, -1}, {1, -1, -1}, "one child twice");
    refused({1, -1, -1, -1}, {2, -1, -1, -1}, "orphan");
}

template <class Break>
void expect_refused(const Break& break_it, std::string_view claim) {
    SmallTree tree;
    break_it(tree);
    expect_throw<std::invalid_argument>([&] { check_tree(tree.view()); }, claim);
}

void broken_trees_are_refused() {
    check_tree(SmallTree{}.view());
    expect_refused([](SmallTree& t) { t.left[2] = 1; }, "child before its parent");
    expect_refused([](SmallTree& t) { t.right[0] = 9; }, "child out of range");
    expect_refused([](SmallTree& t) { t.bias.pop_back(); }, "short bias");
    expect_refused([](SmallTree& t) { t.indptr.pop_back(); }, "short indptr");
    expect_refused([](SmallTree& t) { t.indptr[0] = 1; }, "indptr does not start at 0");
    expect_refused([](SmallTree& t) { t.indptr[5] = 2; }, "indptr ends early");
    expect_refused([](SmallTree& t) { t.indptr[1] = 9; }, "indptr decreases");
    expect_refused([](SmallTree& t) { t.indptr[1] = -1; }, "negative indptr");
    expect_refused([](SmallTree& t) { t.indices[1] = 2; }, "feature out of range");
    expect_refused([](SmallTree& t) { t.indices[1] = -1; }, "negative feature");
    expect_refused([](SmallTree& t) { t.weights.pop_back(); }, "short weights");
}

void score_zero_goes_right() {
    const Matrix x({-0.5F, 0.0F, -0.6F, 0.0F, 0.0F, 0.5F, 0.0F, 0.4F}, 4, 2);
    Ints leaves(4);
    apply_tree(x.dense(), SmallTree{}.view(), 1, leaves);
    expect_equal(leaves, Ints{3, 1, 4, 3}, "leaves of four rows");
}

void routing_equals_the_plain_loop() {
    for (std::size_t d : {1U, 16U, 17U, 70U, 200U})
        for (double density : {0.1, 1.0}) {
            const Matrix x = random_matrix(2500, d, 0.5, d);
            const RandomTree tree(5, d, density);
            Ints wanted(x.n_rows), found(x.n_rows);
            for (std::size_t n = 0; n < x.n_rows; ++n) wanted[n] = tree.leaf(x.dense().row(n));
            for (std::size_t n_threads : {1U, 3U}) {
                apply_tree(x.dense(), tree.view(), n_threads, found);
                expect_equal(found, wanted, "dense rows");
                apply_tree(x.sparse(), tree.view(), n_threads, found);
                expect_equal(found, wanted, "sparse rows");
            }
        }
}

void linear_leaves_add_their_intercept() {
    const Matrix x = random_matrix(50, 3, 0.7, 1);
    const std::vector<double> intercepts{1.0, 2.0, 3.0, 4.0};
    const std::vector<std::int64_t> indptr{0, 1, 1, 3, 4};
    const Ints indices{2, 0, 1, 2};
    const std::vector<float> weights{0.5F, 1.0F, -2.0F, 4.0F};
    Ints leaves(50);
    for (std::size_t n = 0; n < 50; ++n) leaves[n] = static_cast<std::int32_t>(n % 2);
    const LinearLeafView view{intercepts, indptr, indices, weights, 2};
    std::vector<double> dense(100), sparse(100);
    linear_outputs(x.dense(), leaves, view, 2, dense);
    linear_outputs(x.sparse(), leaves, view, 1, sparse);
    expect_equal(dense, sparse, "dense and sparse rows agree");
    for (std::size_t n = 0; n < 50; ++n) {
        const float* row = x.values.data() + 3 * n;
        const bool is_first = leaves[n] == 0;
        const double first =
            is_first ? 1.0 + static_cast<double>(0.5F * row[2]) : 3.0 + static_cast<double>(row[0] - 2.0F * row[1]);
        const double second = is_first ? 2.0 : 4.0 + static_cast<double>(4.0F * row[2]);
        expect_near(dense[2 * n], first, 1e-5, "first output");
        expect_near(dense[2 * n + 1], second, 1e-5, "second output");
    }
}

}  // namespace

std::vector<Test> route_tests() {
    return {{"a topology ranks its leaves from left to right", topology_ranks_leaves_from_left_to_right},
            {"one leaf is a topology", one_leaf_is_a_topology},
            {"broken shapes are refused", broken_shapes_are_refused},
            {"broken trees are refused", broken_trees_are_refused},
            {"score zero goes right", score_zero_goes_right},
            {"routing equals the plain loop", routing_equals_the_plain_loop},
            {"linear leaves add their intercept", linear_leaves_add_their_intercept}};
}

}  // namespace spinney::test
