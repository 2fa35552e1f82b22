#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <stdexcept>
#include <tuple>

#include "tree_state.hpp"

namespace spinney::python {
namespace {

StartKind start_kind(const std::string& name) {
    if (name == "random") return StartKind::random;
    if (name == "balanced") return StartKind::balanced;
    if (name == "supervised") return StartKind::supervised;
    refuse("init", name, "random, balanced or supervised");
}

void draw_splits(Optimizer& self, const std::string& kind, double length, bool is_axis) {
    const Start start{start_kind(kind), length, is_axis};
    self.run([&](auto& tree) { tree.draw_splits(start); });
}

void solve_level(Optimizer& self, std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) {
    if (depth >= self.topology().levels.size())
        throw std::invalid_argument("level " + std::to_string(depth) + " is out of range; give one below n_levels");
    self.run([&](auto& tree) { tree.solve_level(depth, sweep, is_guarded, is_next_below); });
}

auto objective(Optimizer& self, const std::optional<Vector<std::uint8_t>>& counts) {
    const auto flags = counts ? span_of(*counts) : std::span<const std::uint8_t>();
    const std::size_t n_nodes = self.topology().n_nodes();
    if (counts && flags.size() != n_nodes)
        throw std::invalid_argument(std::to_string(flags.size()) + " flags; give one for each of the " + std::to_string(n_nodes) +
                                    " nodes");
    const Objective found = self.run([&](auto& tree) { return tree.objective(flags); });
    return std::make_tuple(found.loss, found.penalty);
}

auto care_points(Optimizer& self, std::size_t node) {
    if (node >= self.topology().n_nodes() || self.topology().is_leaf(node))
        throw std::invalid_argument("node " + std::to_string(node) + " is no split of this tree");
    auto care = self.run([&](auto& tree) { return tree.care_points(node); });
    return std::make_tuple(to_numpy(std::move(care.rows)), to_numpy(std::move(care.labels)), to_numpy(std::move(care.weights)));
}

/// Leaf of each row, -1 for rows of no weight.
auto leaf_of(Optimizer& self) {
    const auto ranks = self.run([](auto& tree) { return tree.leaf_of(); });
    const auto members = self.ask([](const auto& tree) { return tree.members(); });
    std::vector<std::int32_t> nodes(ranks.size(), -1);
    for (std::uint32_t row : members) nodes[row] = static_cast<std::int32_t>(self.topology().leaf_node[ranks[row]]);
    return to_numpy(std::move(nodes));
}

/// Rows that reach each node.
auto reach(Optimizer& self) {
    std::vector<std::int64_t> counts(self.topology().n_nodes());
    self.run([&](auto& tree) {
        for (std::size_t node = 0; node < counts.size(); ++node) counts[node] = static_cast<std::int64_t>(tree.count_reach(node));
    });
    return to_numpy(std::move(counts));
}

void make_row_state(RowState* self, const Vector<double>& weights) {
    check_row_count(weights.shape(0));
    run_stoppable([&] { new (self) RowState(span_of(weights)); });
}

void bind_steps(nb::class_<Optimizer>& c) {
    c.def("draw_splits", &draw_splits, nb::arg("kind"), nb::arg("length"), nb::arg("is_axis") = false)
        .def(
            "limit_weights",
            [](Optimizer& self, std::size_t of_split, std::size_t of_leaf) {
                self.run([&](auto& tree) { tree.limit_weights(of_split, of_leaf); });
            },
            nb::arg("of_split"), nb::arg("of_leaf"), "Most non-zero weights of a hyperplane from now on; 0 for any number.")
        .def("solve_level", &solve_level, nb::arg("depth"), nb::arg("sweep"), nb::arg("is_guarded"),
             nb::arg("is_next_below") = false)
        .def(
            "fit_leaves",
            [](Optimizer& self, std::uint64_t sweep, bool is_guarded) {
                self.run([&](auto& tree) { tree.fit_leaves(sweep, is_guarded); });
            },
            nb::arg("sweep"), nb::arg("is_guarded"))
        .def(
            "relax_leaves",
            [](Optimizer& self, double ridge) { self.run([&](auto& tree) { tree.relax_leaves({.ridge = ridge}); }); },
            nb::arg("ridge"), "Refit linear leaves on the features they use, without their penalty.")
        .def(
            "clear_empty_leaves", [](Optimizer& self) { self.run([](auto& tree) { tree.clear_empty_leaves(); }); },
            "Free leaves that no row reaches of their penalty.")
        .def("keep", &Optimizer::keep, nb::call_guard<nb::gil_scoped_release>())
        .def("restore", [](Optimizer& self) { self.run([&](auto& tree) { tree.restore(self.kept()); }); });
}

void bind_state(nb::class_<Optimizer>& c) {
    c.def("set_tree", &set_tree, array_arg("bias"), array_arg("indptr"), array_arg("indices"), array_arg("weights"),
          array_arg("leaf_values"), array_arg("leaf_weights"))
        .def("set_leaves", &set_leaves, array_arg("values"),
             "Take constant leaves fitted elsewhere, and look at changed targets.")
        .def("take_turn", &take_turn, array_arg("leaf_numbers"), array_arg("values"),
             "Go on after other trees of the same RowState with rows in the leaves that `leaf_numbers` told, and constant leaves "
             "fitted elsewhere; look at changed targets.")
        .def("state", &present_state, "All that decides how the tree goes on after its leaves were fitted, to the bit.")
        .def("kept_state", &kept_state, "The same of the tree that was kept.")
        .def("set_state", &set_state, array_arg("bias"), array_arg("splits"), array_arg("leaf_values"), array_arg("leaf_weights"),
             array_arg("fitted"), "Go on from what `state` gave, in an optimiser of the same task.")
        .def("splits", &splits_of)
        .def("leaves", &leaves_of);
}

void bind_questions(nb::class_<Optimizer>& c) {
    c.def("objective", &objective, array_arg("counts") = nb::none(),
          "Loss and penalties; given a flag a node, the penalties of flagged nodes alone.")
        .def(
            "count_active", [](const Optimizer& self) { return self.ask([](const auto& tree) { return tree.count_active(); }); },
            nb::call_guard<nb::gil_scoped_release>())
        .def("care_points", &care_points, nb::arg("node"))
        .def("leaf_numbers", &write_leaf_numbers, array_arg("out"),
             "Write the number of the leaf of each row, in the order of the leaf nodes; 0 for rows of no weight.")
        .def("leaf_of", &leaf_of, "Leaf of each row, -1 for rows of no weight.")
        .def("reach", &reach)
        .def_prop_ro("n_levels", [](const Optimizer& self) { return self.topology().levels.size(); });
}

}  // namespace

void bind_optimizer(nb::module_& m) {
    nb::class_<RowState>(m, "RowState", "What the trees of a forest know of each row; theirs in turn, in one thread at a time.")
        .def("__init__", &make_row_state, array_arg("weights"));
    nb::class_<Optimizer> c(m, "TreeOptimizer", "One tree under alternating optimisation.");
    c.def(nb::init<const Rows&, const Vector<double>&, const Vector<double>&, const Vector<std::int32_t>&,
                   const Vector<std::int32_t>&, Task, const nb::dict&, const std::string&, std::size_t, std::uint64_t,
                   std::size_t, std::optional<std::uint64_t>, std::optional<Vector<double>>, std::shared_ptr<RowState>>(),
          nb::arg("rows"), array_arg("mean"), array_arg("inverse_scale"), array_arg("left"), array_arg("right"), nb::arg("task"),
          nb::arg("solver"), nb::arg("split"), nb::arg("n_threads"), nb::arg("seed"), nb::arg("max_features") = 0,
          nb::arg("start_seed") = nb::none(), array_arg("deviation") = nb::none(), nb::arg("state") = nb::none());
    bind_steps(c);
    bind_state(c);
    bind_questions(c);
}

}  // namespace spinney::python
