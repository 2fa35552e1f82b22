#include "spinney/forest.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"
#include "tree_arrays.hpp"

namespace spinney::python {
namespace {

void init(Forest* self, const std::vector<TreeArrays>& trees, std::size_t n_features, std::size_t n_outputs) {
    run_stoppable([&] {
        std::vector<ForestTree> views;
        views.reserve(trees.size());
        for (const TreeArrays& arrays : trees) views.push_back(view_of(arrays, n_features));
        new (self) Forest(views, n_features, n_outputs);
    });
}

/// Calls compute(rows, out) for either kind of rows, and hands `out` with `n_columns` a row to Python.
template <class T, class Compute>
nb::ndarray<nb::numpy, T> table(const Forest& forest, const Rows& rows, std::size_t n_columns, const Compute& compute) {
    std::vector<T> out;
    std::size_t n_rows = 0;
    run_stoppable([&] {
        std::visit(
            [&](const auto& d) {
                if (d.n_features != forest.n_features())
                    throw std::invalid_argument("rows of " + std::to_string(d.n_features) + " columns for a forest of " +
                                                std::to_string(forest.n_features()) + "; give equally many");
                n_rows = d.n_rows;
                out.resize(n_rows * n_columns);
                compute(d, std::span<T>(out));
            },
            rows.design);
    });
    return to_numpy(std::move(out), {n_rows, n_columns});
}

std::span<const double> checked(const Vector<double>& tree_weights, const Forest& forest) {
    if (tree_weights.shape(0) != forest.n_trees())
        throw std::invalid_argument(std::to_string(tree_weights.shape(0)) + " tree weights for " +
                                    std::to_string(forest.n_trees()) + " trees; give one a tree");
    return span_of(tree_weights);
}

auto apply(const Forest& forest, const Rows& rows, std::size_t n_threads) {
    return table<std::int32_t>(forest, rows, forest.n_trees(), [&](const auto& d, auto out) { forest.apply(d, n_threads, out); });
}

auto labels(const Forest& forest, const Rows& rows, std::size_t n_threads) {
    return table<std::int32_t>(forest, rows, forest.n_trees(),
                               [&](const auto& d, auto out) { forest.labels(d, n_threads, out); });
}

auto votes(const Forest& forest, const Rows& rows, const Vector<double>& tree_weights, std::size_t n_threads) {
    const auto weights = checked(tree_weights, forest);
    return table<double>(forest, rows, forest.n_outputs(),
                         [&](const auto& d, auto out) { forest.votes(d, weights, n_threads, out); });
}

auto sums(const Forest& forest, const Rows& rows, const Vector<double>& tree_weights, bool is_softmax, std::size_t n_threads) {
    const auto weights = checked(tree_weights, forest);
    return table<double>(forest, rows, forest.n_outputs(),
                         [&](const auto& d, auto out) { forest.sums(d, weights, is_softmax, n_threads, out); });
}

}  // namespace

void bind_forest(nb::module_& m) {
    nb::class_<Forest>(m, "Forest", "Many trees, copied and packed for prediction.")
        .def("__init__", &init, array_arg("trees"), nb::arg("n_features"), nb::arg("n_outputs"))
        .def_prop_ro("n_trees", &Forest::n_trees)
        .def_prop_ro("n_features", &Forest::n_features)
        .def_prop_ro("n_outputs", &Forest::n_outputs)
        .def("apply", &apply, nb::arg("rows"), nb::arg("n_threads"), "Leaf node of each row in each tree.")
        .def("labels", &labels, nb::arg("rows"), nb::arg("n_threads"), "Label of each row in each tree.")
        .def("votes", &votes, nb::arg("rows"), array_arg("tree_weights"), nb::arg("n_threads"),
             "Weight of the trees for each label.")
        .def("sums", &sums, nb::arg("rows"), array_arg("tree_weights"), nb::arg("is_softmax"), nb::arg("n_threads"),
             "Weighted sum of the outputs of the trees.");
}

}  // namespace spinney::python
