#include "rows.hpp"

#include "interrupt.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "spinney/padded_rows.hpp"
#include "spinney/scaling.hpp"

namespace spinney::python {
namespace {

Rows dense_rows(const Matrix<float>& values) {
    return {DenseRows{values.data(), values.shape(0), values.shape(1)}, {nb::cast(values)}};
}

/// Padded copy of a matrix, as floats or bytes.
template <class T>
Rows copied_rows(const Matrix<float>& values) {
    const std::size_t d = values.shape(1);
    auto owned = std::make_unique<PaddedRows<T>>(run_stoppable([&] {
        return PaddedRows<T>(values.shape(0), d, [&](std::size_t n, T* out) {
            std::transform(values.data() + n * d, values.data() + (n + 1) * d, out, [](float x) { return static_cast<T>(x); });
        });
    }));
    const auto view = owned->view();
    return {view, {nb::capsule(owned.release(), [](void* p) noexcept { delete static_cast<PaddedRows<T>*>(p); })}};
}

/// Times weights of zero, no such number leaves anything in a sum, nor do sums of them overflow before.
constexpr float largest_neighbour = 1e18F;

bool are_small(std::span<const float> values) {
    for (std::size_t first = 0; first < values.size(); first += 1024) {
        check_stop_after(512);
        bool is_small = true;
        for (float x : values.subspan(first, std::min<std::size_t>(1024, values.size() - first)))
            is_small &= x >= -largest_neighbour && x <= largest_neighbour;
        if (!is_small) return false;
    }
    return true;
}

/// Rows that are read beyond their ends, into the next row; those at the end of the matrix are copied.
Rows overlapping_rows(const Matrix<float>& values) {
    const std::size_t n = values.shape(0), d = values.shape(1), width = padded_size(d);
    const std::size_t n_copied = std::min(n, (width - d + d - 1) / d);
    auto owned = std::make_unique<PaddedRows<float>>(
        n_copied, d, [&](std::size_t i, float* out) { std::copy_n(values.data() + (n - n_copied + i) * d, d, out); });
    const DenseRows rows{values.data(), n, d, d, width, owned->view().values, n - n_copied};
    return {
        rows,
        {nb::cast(values), nb::capsule(owned.release(), [](void* p) noexcept { delete static_cast<PaddedRows<float>*>(p); })}};
}

/// Rows as training reads them. Those whose width fills whole vectors are borrowed; others are read beyond their ends, unless
/// huge numbers there could do harm.
Rows padded_rows(const Matrix<float>& values) {
    if (values.shape(1) == padded_size(values.shape(1)) || values.size() == 0) return dense_rows(values);
    const bool are_harmless = run_stoppable([&] { return are_small({values.data(), values.size()}); });
    return are_harmless ? overlapping_rows(values) : copied_rows<float>(values);
}

bool are_bytes(std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        check_stop_at(i);
        if (!(values[i] >= 0.0F && values[i] <= 255.0F)) return false;
        if (static_cast<float>(static_cast<std::uint8_t>(values[i])) != values[i]) return false;
    }
    return true;
}

std::optional<Rows> byte_rows(const Matrix<float>& values) {
    if (!run_stoppable([&] { return are_bytes({values.data(), values.size()}); })) return std::nullopt;
    return copied_rows<std::uint8_t>(values);
}

/// Columns must be in range and strictly ascending within a row: kernels rely on both.
void check_rows(const SparseRows& rows, std::size_t n_entries) {
    if (rows.indptr[0] != 0 || rows.indptr[rows.n_rows] != static_cast<std::int64_t>(n_entries))
        throw std::invalid_argument("CSR indptr does not span the data");
    for (std::size_t n = 0; n < rows.n_rows; ++n)
        if (rows.indptr[n] > rows.indptr[n + 1]) throw std::invalid_argument("CSR indptr decreases");
    for (std::size_t n = 0; n < rows.n_rows; ++n) {
        check_stop_at(n);
        std::int64_t previous = -1;
        for (std::int32_t j : rows.columns(n)) {
            if (j <= previous || static_cast<std::size_t>(j) >= rows.n_features)
                throw std::invalid_argument("CSR columns are out of range, unsorted or repeated; call sum_duplicates()");
            previous = j;
        }
    }
}

Rows sparse_rows(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices, const Vector<float>& data,
                 std::size_t n_features) {
    if (indptr.shape(0) == 0 || indices.shape(0) != data.shape(0)) throw std::invalid_argument("CSR arrays disagree in length");
    const SparseRows rows{indptr.data(), indices.data(), data.data(), indptr.shape(0) - 1, n_features};
    run_stoppable([&] { check_rows(rows, data.shape(0)); });
    return {rows, {nb::cast(indptr), nb::cast(indices), nb::cast(data)}};
}

/// A column of the table: its first coordinate, how many levels it has, and its flag or -1.
using ColumnNumbers = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;

/// Throws unless the coordinates of a column are among those of the rows.
TableColumn column_of(const ColumnNumbers& numbers, std::size_t n_features) {
    const auto [first, n_levels, flag] = numbers;
    const TableColumn column{first, n_levels, flag};
    const bool has_flag = flag != TableColumn::no_flag;
    if (std::size_t{first} + column.n_coordinates() > n_features || flag < TableColumn::no_flag ||
        (has_flag && static_cast<std::size_t>(flag) >= n_features))
        throw std::invalid_argument("a column of the table reads coordinates that the rows do not have");
    return column;
}

Rows with_columns(const Rows& rows, const std::vector<ColumnNumbers>& columns, const Vector<double>& weights) {
    Rows out = rows;
    std::visit(
        [&](const auto& d) {
            if (weights.shape(0) != d.n_rows) throw std::invalid_argument("weights must be one for each row");
            std::vector<TableColumn> found;
            for (const auto& numbers : columns) found.push_back(column_of(numbers, d.n_features));
            out.table = std::make_shared<const TrainingTable>(d, std::move(found), span_of(weights));
        },
        rows.design);
    out.owners.push_back(nb::cast(weights));
    return out;
}

auto moments(const Rows& rows, const Vector<double>& weights, std::size_t n_threads) {
    const std::size_t n_rows = std::visit([](const auto& d) { return d.n_rows; }, rows.design);
    if (weights.shape(0) != n_rows)
        throw std::invalid_argument(std::to_string(weights.shape(0)) + " weights for " + std::to_string(n_rows) +
                                    " rows; give one a row");
    Moments found = run_stoppable(
        [&] { return std::visit([&](const auto& d) { return column_moments(d, span_of(weights), n_threads); }, rows.design); });
    return std::make_tuple(to_numpy(std::move(found.mean)), to_numpy(std::move(found.deviation)), to_numpy(std::move(found.low)),
                           to_numpy(std::move(found.high)));
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "Rows", "Dense or sparse rows, borrowed from numpy arrays or padded copies of them.")
        .def_prop_ro("n_rows", [](const Rows& r) { return std::visit([](const auto& d) { return d.n_rows; }, r.design); })
        .def_prop_ro("n_features", [](const Rows& r) { return std::visit([](const auto& d) { return d.n_features; }, r.design); })
        .def_prop_ro("is_sparse", [](const Rows& r) { return std::holds_alternative<SparseRows>(r.design); });
    m.def("dense_rows", &dense_rows, array_arg("values"));
    m.def("padded_rows", &padded_rows, array_arg("values"),
          "The rows as training reads them, in whole vectors: borrowed, unless numbers are huge.");
    m.def("byte_rows", &byte_rows, array_arg("values"),
          "The rows as bytes if all values are whole numbers from 0 to 255, else None.");
    m.def("sparse_rows", &sparse_rows, array_arg("indptr"), array_arg("indices"), array_arg("data"), nb::arg("n_features"));
    m.def("with_columns", &with_columns, nb::arg("rows"), nb::arg("columns"), array_arg("weights"),
          "The rows with the columns of the table that their coordinates come from, and the weights that cut these into bins.");
    m.def("column_moments", &moments, nb::arg("rows"), array_arg("weights"), nb::arg("n_threads"),
          "Weighted mean and standard deviation, lowest and highest value of each column.");
    m.def("simd_levels", &simd_levels, "Levels of vector instructions that this processor has, the best last.");
    m.def("simd_level", &simd_level, "The level in use.");
    m.def("use_simd_level", &use_simd_level, nb::arg("name"), "Takes another level; for tests, all give the same bits.");
}

}  // namespace spinney::python
