/// Codes and histograms. No estimator uses them yet; tests and benchmarks do.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/table/block.hpp"
#include "spinney/table/codes.hpp"
#include "spinney/table/split.hpp"

namespace spinney::python {
namespace {

using RowNumbers = std::optional<Vector<std::uint32_t>>;

void check_size(const char* what, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        throw std::invalid_argument(std::to_string(found) + " " + what + ", but " + std::to_string(wanted) + " are needed");
}

void check_weights(std::span<const double> weights, std::size_t n_rows) {
    check_size("weights", weights.size(), n_rows);
    for (double weight : weights)
        if (!(weight >= 0.0 && std::isfinite(weight)))
            throw std::invalid_argument("weight " + std::to_string(weight) + " is no weight; give finite numbers >= 0");
}

NodeRows node_rows(const RowNumbers& rows, const Codes& codes) {
    if (!rows) return std::nullopt;
    NodeRows numbers = span_of(*rows);
    check_node_rows(numbers, codes.n_rows());
    return numbers;
}

std::vector<Sketch> sketches_of(const Rows& rows, const Vector<double>& weights, std::size_t n_threads) {
    return std::visit(
        [&](const auto& d) {
            check_row_count(d.n_rows);
            check_weights(span_of(weights), d.n_rows);
            return column_sketches(d, span_of(weights), n_threads);
        },
        rows.design);
}

auto sketches(const Rows& rows, const Vector<double>& weights, std::size_t n_threads) {
    std::vector<Sketch> found = run_stoppable([&] { return sketches_of(rows, weights, n_threads); });
    std::vector<std::tuple<nb::ndarray<nb::numpy, float>, nb::ndarray<nb::numpy, double>, double>> out;
    for (Sketch& sketch : found)
        out.emplace_back(to_numpy(std::move(sketch.values)), to_numpy(std::move(sketch.weights)), sketch.rank_error);
    return out;
}

Edges edges_of(const Rows& rows, const Vector<double>& weights, const Vector<std::uint8_t>& n_levels, std::size_t n_bins,
               std::size_t n_threads) {
    return run_stoppable([&] {
        const auto found = sketches_of(rows, weights, n_threads);
        check_size("numbers of levels", n_levels.shape(0), found.size());
        return find_edges(found, span_of(n_levels), n_bins);
    });
}

auto thresholds(const Edges& edges, std::size_t column) {
    if (column >= edges.n_columns()) throw std::invalid_argument("no column " + std::to_string(column));
    const auto found = edges.of(column);
    return to_numpy(std::vector<float>(found.begin(), found.end()));
}

Codes codes_of(const Rows& rows, const Edges& edges, std::size_t n_threads) {
    return run_stoppable([&] {
        return std::visit(
            [&](const auto& d) {
                check_row_count(d.n_rows);
                check_size("columns", d.n_features, edges.n_columns());
                return code_rows(d, edges, n_threads);
            },
            rows.design);
    });
}

auto codes_as_array(const Codes& codes) {
    std::vector<std::uint8_t> out(codes.n_rows() * codes.n_columns());
    for (const ColumnGroup& group : codes.groups())
        for (std::size_t n = 0; n < codes.n_rows(); ++n)
            for (std::size_t k = 0; k < group.width; ++k)
                out[n * codes.n_columns() + group.first + k] = group.codes[n * group.width + k];
    return to_numpy(std::move(out), {codes.n_rows(), codes.n_columns()});
}

std::vector<GradientPair> pairs_of(const Matrix<float>& pairs) {
    check_size("numbers a row", pairs.shape(1), 2);
    std::vector<GradientPair> out(pairs.shape(0));
    for (std::size_t n = 0; n < out.size(); ++n) out[n] = {pairs.data()[2 * n], pairs.data()[2 * n + 1]};
    return out;
}

/// The pairs where they lie: the struct is two floats.
std::span<const GradientPair> view_pairs(const Matrix<float>& pairs, std::size_t n_rows) {
    static_assert(sizeof(GradientPair) == 2 * sizeof(float));
    check_size("rows of pairs", pairs.shape(0), n_rows);
    check_size("numbers a row", pairs.shape(1), 2);
    return {reinterpret_cast<const GradientPair*>(pairs.data()), n_rows};
}

auto gradients(const Codes& codes, const Matrix<float>& pairs, const RowNumbers& rows, std::size_t n_threads) {
    const auto found = run_stoppable(
        [&] { return gradient_histogram(codes, view_pairs(pairs, codes.n_rows()), node_rows(rows, codes), n_threads); });
    std::vector<double> out;
    for (const GradientSum& sum : found) {
        out.push_back(sum.gradient);
        out.push_back(sum.hessian);
    }
    return to_numpy(std::move(out), {found.size(), 2});
}

void check_label(std::int32_t label, double weight, std::size_t n_classes) {
    if (label < 0 || static_cast<std::size_t>(label) >= n_classes) throw std::invalid_argument("class code out of range");
    check_weights({&weight, 1}, 1);
}

auto labels_in_bins(const Codes& codes, const Vector<std::int32_t>& labels, const Vector<double>& weights, std::size_t n_classes,
                    const RowNumbers& rows, std::size_t n_threads) {
    auto found = run_stoppable([&] {
        check_size("labels", labels.shape(0), codes.n_rows());
        check_size("weights", weights.shape(0), codes.n_rows());
        const NodeRows numbers = node_rows(rows, codes);
        const std::size_t n_rows = numbers ? numbers->size() : codes.n_rows();
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::size_t row = numbers ? (*numbers)[i] : i;
            check_label(labels.data()[row], weights.data()[row], n_classes);
        }
        return label_histogram(codes, span_of(labels), span_of(weights), n_classes, numbers, n_threads);
    });
    const std::size_t n_bins = n_classes == 0 ? 0 : found.size() / n_classes;
    return to_numpy(std::move(found), {n_bins, n_classes});
}

auto counts(const Codes& codes, const RowNumbers& rows, std::size_t n_threads) {
    return to_numpy(run_stoppable([&] { return count_histogram(codes, node_rows(rows, codes), n_threads); }));
}

auto begin_of(const Codes& codes) {
    const auto begin = histogram_begin(codes);
    return to_numpy(std::vector<std::int64_t>(begin.begin(), begin.end()));
}

auto on_grid(const Matrix<float>& pairs) {
    auto rounded = pairs_of(pairs);
    round_to_grid(rounded);
    std::vector<float> out;
    for (const GradientPair& pair : rounded) {
        out.push_back(pair.gradient);
        out.push_back(pair.hessian);
    }
    return to_numpy(std::move(out), {rounded.size(), 2});
}

auto cut(const Matrix<double>& bins, const Vector<std::uint32_t>& counts_of_bins, double l2, double min_hessian,
         std::uint64_t min_rows) {
    check_size("numbers a bin", bins.shape(1), 2);
    check_size("counts", counts_of_bins.shape(0), bins.shape(0));
    if (bins.shape(0) == 0) throw std::invalid_argument("a histogram has a bin for missing values at least");
    std::vector<GradientSum> sums(bins.shape(0));
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = {bins.data()[2 * k], bins.data()[2 * k + 1]};
    const ColumnCut best = best_cut(sums, span_of(counts_of_bins), {l2, min_hessian, min_rows});
    return std::make_tuple(best.gain, best.bin, best.is_missing_left, best.left.gradient, best.left.hessian, best.n_left);
}

}  // namespace

void bind_table(nb::module_& m) {
    m.attr("table_block") = table_block;
    nb::class_<Edges>(m, "Edges", "Where the values of each column are cut into bins.")
        .def_prop_ro("n_columns", &Edges::n_columns)
        .def("thresholds", &thresholds, nb::arg("column"), "code(x) <= k exactly where x <= thresholds[k].");
    nb::class_<Codes>(m, "Codes", "Numbers of the bins that values lie in, a byte each; 255 for a missing one.")
        .def_prop_ro("n_rows", &Codes::n_rows)
        .def_prop_ro("n_columns", &Codes::n_columns)
        .def("begin", &begin_of, "Bins of column j in a histogram: begin[j] to begin[j + 1], the last for missing values.")
        .def("to_array", &codes_as_array, "Copy of all codes, one row each.");
    m.def("column_sketches", &sketches, nb::arg("rows"), array_arg("weights"), nb::arg("n_threads"),
          "Values, weights and rank error of the sketch of each column.");
    m.def("find_edges", &edges_of, nb::arg("rows"), array_arg("weights"), array_arg("n_levels"), nb::arg("n_bins"),
          nb::arg("n_threads"));
    m.def("code_rows", &codes_of, nb::arg("rows"), nb::arg("edges"), nb::arg("n_threads"));
    m.def("gradient_histogram", &gradients, nb::arg("codes"), array_arg("pairs"), array_arg("rows").none(), nb::arg("n_threads"),
          "Sums of the pairs (gradient, hessian) of some rows, or of all, in each bin of each column.");
    m.def("label_histogram", &labels_in_bins, nb::arg("codes"), array_arg("labels"), array_arg("weights"), nb::arg("n_classes"),
          array_arg("rows").none(), nb::arg("n_threads"), "Weight of each class in each bin.");
    m.def("count_histogram", &counts, nb::arg("codes"), array_arg("rows").none(), nb::arg("n_threads"),
          "Number of rows in each bin.");
    m.def("round_to_grid", &on_grid, array_arg("pairs"), "The pairs, so rounded that sums of them are exact.");
    m.def("best_cut", &cut, array_arg("bins"), array_arg("counts"), nb::arg("l2"), nb::arg("min_hessian"), nb::arg("min_rows"),
          "Gain, bin, whether missing values go left, gradient, hessian and rows on the left of the best cut of a column.");
}

}  // namespace spinney::python
