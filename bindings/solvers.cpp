#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/solve_axis.hpp"
#include "spinney/solve_column.hpp"
#include "spinney/solve_linear.hpp"
#include "task.hpp"

namespace spinney::python {
namespace {

std::vector<std::uint32_t> all_rows(std::size_t n) {
    std::vector<std::uint32_t> rows(n);
    for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<std::uint32_t>(i);
    return rows;
}

/// One logistic problem over all rows, for tests, benchmarks and users of the solver alone.
auto logistic_split(const Rows& rows, const Vector<double>& mean, const Vector<double>& inverse_scale,
                    const Vector<std::int8_t>& labels, const Vector<double>& weights, double alpha, const std::string& solver,
                    std::size_t max_newton, std::size_t epochs, double step, double tolerance, std::uint64_t seed) {
    std::vector<float> w;
    double bias = 0.0;
    run_stoppable([&] {
        const auto m = span_of(mean);
        const auto s = span_of(inverse_scale);
        const Scaling scaling({m.begin(), m.end()}, {s.begin(), s.end()});
        std::visit(
            [&](const auto& d) {
                check_row_count(d.n_rows);
                if (labels.shape(0) != d.n_rows || weights.shape(0) != d.n_rows || m.size() != d.n_features ||
                    s.size() != d.n_features)
                    throw std::invalid_argument("labels, weights and scaling must agree with the rows");
                const auto numbers = all_rows(d.n_rows);
                const WeightedRows entries{numbers, span_of(weights)};
                LinearOptions options;
                options.alpha = alpha;
                options.max_newton = max_newton;
                options.epochs = epochs;
                options.step = step;
                options.tolerance = tolerance;
                w.resize(d.width());
                const LogisticLink link(span_of(labels));
                if (solver != "newton" && solver != "stream") refuse("solver", solver, "newton or stream");
                if (solver == "newton")
                    solve_newton(d, scaling, entries, link, options, std::span(w), bias);
                else
                    solve_stream(d, scaling, squared_norms(d, scaling, 1), entries, link, options, Random(seed), std::span(w),
                                 std::span(&bias, 1));
                w.resize(d.n_features);
            },
            rows.design);
    });
    return std::make_tuple(to_numpy(std::move(w)), bias);
}

auto axis_split(const Rows& rows, const Vector<std::int8_t>& labels, const Vector<double>& weights, double alpha) {
    AxisSplit split;
    run_stoppable([&] {
        std::visit(
            [&](const auto& d) {
                check_row_count(d.n_rows);
                if (labels.shape(0) != d.n_rows || weights.shape(0) != d.n_rows)
                    throw std::invalid_argument("labels and weights must agree with the rows");
                const auto numbers = all_rows(d.n_rows);
                split = solve_axis(d, {numbers, span_of(labels), span_of(weights)}, alpha);
            },
            rows.design);
    });
    return std::make_tuple(split.feature, split.sign, split.bias, split.cost);
}

auto column_split(const Rows& rows, const Vector<std::int8_t>& labels, const Vector<double>& weights, double alpha,
                  std::size_t n_threads) {
    ColumnSplit split;
    run_stoppable([&] {
        std::visit(
            [&]<class D>(const D& d) {
                check_row_count(d.n_rows);
                if (labels.shape(0) != d.n_rows || weights.shape(0) != d.n_rows)
                    throw std::invalid_argument("labels and weights must agree with the rows");
                if constexpr (is_sparse<D>) {
                    throw std::invalid_argument("sparse rows have no columns of a table; give dense ones");
                } else {
                    const CodedColumns& coded = rows.table->codes(n_threads);
                    const std::vector<std::uint8_t> wanted(coded.n_columns(), 1);
                    split =
                        solve_column(d, coded, {all_rows(d.n_rows), span_of(labels), span_of(weights)}, alpha, wanted, n_threads);
                }
            },
            rows.design);
    });
    return std::make_tuple(to_numpy(std::move(split.plane.columns)), to_numpy(std::move(split.plane.weights)), split.plane.bias,
                           split.cost);
}

}  // namespace

void bind_solvers(nb::module_& m) {
    m.def("logistic_split", &logistic_split, nb::arg("rows"), array_arg("mean"), array_arg("inverse_scale"), array_arg("labels"),
          array_arg("weights"), nb::arg("alpha"), nb::arg("solver"), nb::arg("max_newton"), nb::arg("epochs"), nb::arg("step"),
          nb::arg("tolerance"), nb::arg("seed"),
          "Weighted logistic regression with an l1 penalty from zero weights: raw weights and bias.");
    m.def("axis_split", &axis_split, nb::arg("rows"), array_arg("labels"), array_arg("weights"), nb::arg("alpha"),
          "Exact axis-aligned split: feature (-1 for none), weight, bias and cost.");
    m.def("column_split", &column_split, nb::arg("rows"), array_arg("labels"), array_arg("weights"), nb::arg("alpha"),
          nb::arg("n_threads"), "Exact split by one column of a table: coordinates, weights, bias and cost.");
}

}  // namespace spinney::python
