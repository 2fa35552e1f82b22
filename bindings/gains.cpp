#include "spinney/gains.hpp"

#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"
#include "tree_arrays.hpp"

namespace spinney::python {
namespace {

auto gains_of(const Rows& rows, const TreeArrays& arrays, const Vector<std::int32_t>& leaf_nodes,
              const Vector<std::int32_t>& classes, const Matrix<double>& values, std::size_t n_outputs,
              const Vector<double>& weights, const Vector<double>& counts, std::size_t n_columns, std::size_t n_threads) {
    ColumnGains found = run_stoppable([&] {
        return std::visit(
            [&](const auto& d) {
                const ForestTree tree = view_of(arrays, d.n_features);
                check_tree(tree.splits);
                check_leaves(tree.leaves, d.n_features);
                const GainTask task{
                    span_of(classes), {values.data(), values.size()}, n_outputs, span_of(weights), span_of(counts), n_columns};
                return column_gains(d, tree, span_of(leaf_nodes), task, n_threads);
            },
            rows.design);
    });
    return std::make_tuple(to_numpy(std::move(found.beyond_chance)), to_numpy(std::move(found.all)));
}

}  // namespace

void bind_gains(nb::module_& m) {
    m.def("column_gains", &gains_of, nb::arg("rows"), nb::arg("tree"), array_arg("leaf_nodes"), array_arg("classes"),
          array_arg("values"), nb::arg("n_outputs"), array_arg("weights"), array_arg("counts"), nb::arg("n_columns"),
          nb::arg("n_threads"), "What each column lowers the loss by: beyond chance, and in all.");
}

}  // namespace spinney::python
