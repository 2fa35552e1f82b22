#include "spinney/readout.hpp"

#include <nanobind/stl/string_view.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/powers.hpp"

namespace spinney::python {
namespace {

/// One row or several, of floats or doubles, in any layout.
using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// Walks for which other threads should get the interpreter: giving it away costs more than a single row takes.
constexpr std::size_t least_walks_apart = 1024;

std::vector<double> copy_of(const Vector<double>& values) { return {values.data(), values.data() + values.shape(0)}; }

Says says_of(std::string_view name) {
    if (name == "label") return Says::label;
    if (name == "outputs") return Says::outputs;
    if (name == "probabilities") return Says::probabilities;
    throw std::invalid_argument("says=" + std::string(name) + "; give label, outputs or probabilities");
}

void init(Readout* self, const Forest& forest, std::string_view says, const Vector<double>& tree_weights,
          const Vector<double>& offsets) {
    new (self) Readout(forest, says_of(says), copy_of(tree_weights), copy_of(offsets));
}

/// Rows as the core reads them: borrowed if they are floats in a row, else copied.
struct FloatRows {
    DenseRows rows;
    std::vector<float> copy;
};

/// `values` as floats, row by row.
template <class T>
std::vector<float> copy_rows(const AnyArray& values, std::size_t n_rows, std::size_t n_features) {
    const std::int64_t row_step = values.ndim() == 2 ? values.stride(0) : 0;
    const std::int64_t step = values.stride(values.ndim() - 1);
    const auto* from = static_cast<const T*>(values.data());
    std::vector<float> copy(n_rows * n_features);
    for (std::size_t n = 0; n < n_rows; ++n)
        for (std::size_t j = 0; j < n_features; ++j)
            copy[n * n_features + j] =
                static_cast<float>(from[static_cast<std::int64_t>(n) * row_step + static_cast<std::int64_t>(j) * step]);
    return copy;
}

bool is_in_rows(const AnyArray& values) {
    const std::size_t last = values.ndim() - 1;
    return values.stride(last) == 1 && (last == 0 || values.stride(0) == static_cast<std::int64_t>(values.shape(1)));
}

/// Throws unless every value is finite; what a double becomes as a float is what counts.
void check_finite(const DenseRows& rows) {
    for (std::size_t i = 0; i < rows.n_rows * rows.n_features; ++i) {
        if (std::isfinite(rows.values[i])) continue;
        throw std::invalid_argument("x[" + std::to_string(i / rows.n_features) + ", " + std::to_string(i % rows.n_features) +
                                    "] is " + (std::isnan(rows.values[i]) ? "missing" : "too large for float32") +
                                    "; give finite numbers below 3.4e38; missing values are filled by models "
                                    "that were fitted to some");
    }
}

FloatRows checked_rows(const AnyArray& values, const Readout& readout) {
    const std::size_t n_features = readout.n_features();
    if (values.ndim() < 1 || values.ndim() > 2 || values.shape(values.ndim() - 1) != n_features)
        throw std::invalid_argument(
            "x has " + std::to_string(values.ndim()) + (values.ndim() == 1 ? " dimension" : " dimensions") + " and rows of " +
            std::to_string(values.ndim() > 0 ? values.shape(values.ndim() - 1) : 0) + " columns; give a row of " +
            std::to_string(n_features) + " numbers or a matrix of such rows");
    const std::size_t n_rows = values.ndim() == 2 ? values.shape(0) : 1;
    FloatRows out;
    if (values.dtype() == nb::dtype<float>()) {
        if (is_in_rows(values))
            out.rows = {static_cast<const float*>(values.data()), n_rows, n_features};
        else
            out.copy = copy_rows<float>(values, n_rows, n_features);
    } else if (values.dtype() == nb::dtype<double>()) {
        out.copy = copy_rows<double>(values, n_rows, n_features);
    } else {
        throw std::invalid_argument("x holds neither float32 nor float64; give one of them; try x.astype(np.float32)");
    }
    if (out.rows.values == nullptr) out.rows = {out.copy.data(), n_rows, n_features};
    check_finite(out.rows);
    return out;
}

/// Calls compute(rows) without the interpreter, unless that is not worth the change.
template <class Compute>
void run(const Readout& readout, const DenseRows& rows, const Compute& compute) {
    if (rows.n_rows * readout.n_trees() < least_walks_apart) return compute(rows);
    run_stoppable([&] { compute(rows); });
}

nb::object largest(const Readout& readout, const AnyArray& values, std::size_t n_threads) {
    const FloatRows given = checked_rows(values, readout);
    if (values.ndim() == 1) {
        std::int32_t best = 0;
        run(readout, given.rows, [&](const DenseRows& rows) { readout.largest(rows, 1, {&best, 1}); });
        return nb::int_(best);
    }
    std::vector<std::int32_t> best(given.rows.n_rows);
    run(readout, given.rows, [&](const DenseRows& rows) { readout.largest(rows, n_threads, best); });
    return nb::cast(to_numpy(std::move(best)));
}

auto totals(const Readout& readout, const AnyArray& values, std::size_t n_threads) {
    const FloatRows given = checked_rows(values, readout);
    const std::size_t n_outputs = readout.n_outputs();
    std::vector<double> out(given.rows.n_rows * n_outputs);
    run(readout, given.rows, [&](const DenseRows& rows) { readout.totals(rows, n_threads, out); });
    return to_numpy(std::move(out), {given.rows.n_rows, n_outputs});
}

/// Scores to probabilities, row by row.
auto softmax_rows(const Matrix<double>& scores) {
    std::vector<double> out(scores.data(), scores.data() + scores.size());
    const std::size_t n_rows = scores.shape(0);
    const std::size_t n_outputs = scores.shape(1);
    if (n_outputs > 0) {
        const nb::gil_scoped_release release;
        for (std::size_t n = 0; n < n_rows; ++n) kernels().softmax({out.data() + n * n_outputs, n_outputs});
    }
    return to_numpy(std::move(out), {n_rows, n_outputs});
}

/// Votes to probabilities, row by row.
auto power_rows(const Matrix<double>& votes, double shift, double slope) {
    std::vector<double> out(votes.data(), votes.data() + votes.size());
    const std::size_t n_rows = votes.shape(0);
    const std::size_t n_outputs = votes.shape(1);
    if (n_outputs > 0) {
        const nb::gil_scoped_release release;
        for (std::size_t n = 0; n < n_rows; ++n) power_shares({out.data() + n * n_outputs, n_outputs}, shift, slope);
    }
    return to_numpy(std::move(out), {n_rows, n_outputs});
}

}  // namespace

void bind_readout(nb::module_& m) {
    nb::class_<Readout>(m, "Readout", "A packed forest with what its trees say and count.")
        .def("__init__", &init, nb::arg("forest"), nb::arg("says"), array_arg("tree_weights"), array_arg("offsets"),
             nb::keep_alive<1, 2>())
        .def("largest", &largest, nb::arg("x"), nb::arg("n_threads") = 1,
             "Output with the largest total: a number for one row, an array for several.")
        .def("totals", &totals, nb::arg("x"), nb::arg("n_threads") = 1, "What the trees give each row together.");
    m.def("softmax", &softmax_rows, array_arg("scores"), "Scores to probabilities, row by row.");
    m.def("power_shares", &power_rows, array_arg("votes"), nb::arg("shift"), nb::arg("slope"),
          "Powers of shifted votes, each divided by their sum over the row.");
}

}  // namespace spinney::python
