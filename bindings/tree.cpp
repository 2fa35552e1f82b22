#include <memory>
#include <stdexcept>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/route.hpp"

namespace spinney::python {
namespace {

nb::ndarray<nb::numpy, std::int32_t> apply(const Rows& rows, const Vector<std::int32_t>& left, const Vector<std::int32_t>& right,
                                           const Vector<double>& bias, const Vector<std::int64_t>& indptr,
                                           const Vector<std::int32_t>& indices, const Vector<float>& weights,
                                           std::size_t n_threads) {
    std::unique_ptr<std::int32_t[]> leaves;
    std::size_t n_rows = 0;
    run_stoppable([&] {
        std::visit(
            [&](const auto& d) {
                const TreeView tree{span_of(left),    span_of(right),   span_of(bias), span_of(indptr),
                                    span_of(indices), span_of(weights), d.n_features};
                check_tree(tree);
                n_rows = d.n_rows;
                leaves = std::make_unique_for_overwrite<std::int32_t[]>(n_rows);
                apply_tree(d, tree, n_threads, std::span(leaves.get(), n_rows));
            },
            rows.design);
    });
    return to_numpy(std::move(leaves), n_rows);
}

void check_leaf_numbers(std::span<const std::int32_t> leaves, std::size_t n_leaves) {
    for (std::int32_t leaf : leaves)
        if (leaf < 0 || static_cast<std::size_t>(leaf) >= n_leaves) throw std::invalid_argument("leaf number out of range");
}

nb::ndarray<nb::numpy, double> outputs(const Rows& rows, const Vector<std::int32_t>& leaves, const Matrix<double>& intercepts,
                                       const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                                       const Vector<float>& weights, std::size_t n_threads) {
    std::vector<double> out;
    const std::size_t n_outputs = intercepts.shape(1);
    run_stoppable([&] {
        const LinearLeafView view{
            {intercepts.data(), intercepts.size()}, span_of(indptr), span_of(indices), span_of(weights), n_outputs};
        std::visit(
            [&](const auto& d) {
                if (leaves.shape(0) != d.n_rows) throw std::invalid_argument("one leaf a row is needed");
                check_leaves(view, d.n_features);
                check_leaf_numbers(span_of(leaves), intercepts.shape(0));
                out.resize(d.n_rows * n_outputs);
                linear_outputs(d, span_of(leaves), view, n_threads, out);
            },
            rows.design);
    });
    return to_numpy(std::move(out), {leaves.shape(0), n_outputs});
}

}  // namespace

void bind_tree(nb::module_& m) {
    m.def("apply", &apply, nb::arg("rows"), array_arg("left"), array_arg("right"), array_arg("bias"), array_arg("indptr"),
          array_arg("indices"), array_arg("weights"), nb::arg("n_threads"), "Node number of the leaf each row ends in.");
    m.def("linear_outputs", &outputs, nb::arg("rows"), array_arg("leaves"), array_arg("intercepts"), array_arg("indptr"),
          array_arg("indices"), array_arg("weights"), nb::arg("n_threads"), "Scores of linear leaves.");
}

}  // namespace spinney::python
