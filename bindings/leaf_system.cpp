#include "spinney/leaf_system.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/leaf_lasso.hpp"

namespace spinney::python {
namespace {

void check_penalty(const char* name, double penalty) {
    if (!(penalty > 0.0))
        throw std::invalid_argument(std::string(name) + "=" + std::to_string(penalty) +
                                    " leaves the leaves undetermined; give a number > 0");
}

template <class Array>
[[nodiscard]] LeafNumbers numbers_of(const Array& array) {
    return std::visit([](const auto& a) -> LeafNumbers { return std::span(a.data(), a.size()); }, array);
}

template <class Numbers>
void check_below(const Numbers& numbers, std::size_t end) {
    if (std::ranges::any_of(numbers, [&](std::size_t number) { return number >= end; }))
        throw std::invalid_argument("leaf number out of range");
}

void add_leaf_values(const WritableMatrix<double>& sums, const AnyNumbers<Vector>& leaf_of, const Matrix<double>& values,
                     double factor, std::size_t n_threads) {
    const LeafNumbers numbers = numbers_of(leaf_of);
    const std::size_t n_outputs = values.shape(1);
    const std::size_t n_rows = std::visit([](auto of_rows) { return of_rows.size(); }, numbers);
    if (sums.shape(0) != n_rows || sums.shape(1) != n_outputs)
        throw std::invalid_argument("sums need one row a row, and the columns of the values");
    run_stoppable([&] {
        std::visit([&](auto of_rows) { check_below(of_rows, values.shape(0)); }, numbers);
        add_values(numbers, {values.data(), values.size()}, n_outputs, factor, {sums.data(), sums.size()}, n_threads);
    });
}

/// A regression on the leaves, with the arrays it borrows.
template <class Regression>
class Owned {
  public:
    Owned(AnyNumbers<Matrix> leaves, Vector<double> weights, std::size_t n_leaves, double penalty, std::size_t matrix_limit,
          std::size_t n_threads, std::optional<Vector<std::uint32_t>> first_leaf)
        : leaves_(std::move(leaves)), weights_(std::move(weights)), first_leaf_(std::move(first_leaf)), n_leaves_(n_leaves),
          n_threads_(n_threads) {
        check_penalty(std::is_same_v<Regression, LeafLasso> ? "l1" : "l2", penalty);
        run_stoppable([&] { regression_.emplace(checked_design(), penalty, matrix_limit, n_threads); });
    }

    template <class... Numbers>
    [[nodiscard]] nb::ndarray<nb::numpy, double> solve(const Matrix<double>& targets, const Matrix<double>& start,
                                                       Numbers... tolerance) const {
        const std::size_t n_outputs = targets.shape(1);
        if (targets.shape(0) != weights_.shape(0) || start.shape(0) != n_leaves_ || start.shape(1) != n_outputs)
            throw std::invalid_argument("targets need one row a row, the start one row a leaf, and both the same columns");
        std::vector<double> values(start.data(), start.data() + start.size());
        run_stoppable([&] { regression_->solve({targets.data(), targets.size()}, n_outputs, values, {tolerance...}); });
        return to_numpy(std::move(values), {n_leaves_, n_outputs});
    }

    [[nodiscard]] nb::ndarray<nb::numpy, double> add_up(const Matrix<double>& values) const {
        if (values.shape(0) != n_leaves_) throw std::invalid_argument("values need one row a leaf");
        std::vector<double> sums(weights_.shape(0) * values.shape(1));
        run_stoppable([&] { spinney::add_up(design(), {values.data(), values.size()}, values.shape(1), sums, n_threads_); });
        return to_numpy(std::move(sums), {weights_.shape(0), values.shape(1)});
    }

  private:
    [[nodiscard]] std::size_t shape(std::size_t axis) const {
        return std::visit([&](const auto& leaves) { return leaves.shape(axis); }, leaves_);
    }
    [[nodiscard]] LeafDesign design() const {
        return {numbers_of(leaves_), span_of(weights_), shape(0), n_leaves_,
                first_leaf_ ? span_of(*first_leaf_) : std::span<const std::uint32_t>()};
    }
    /// The leaves of a tree with a first one end where the next tree's begin, so that no two trees share any.
    [[nodiscard]] LeafDesign checked_design() const {
        const LeafDesign found = design();
        if (shape(1) != found.n_rows()) throw std::invalid_argument("one weight a row is needed");
        if (first_leaf_ && found.first_leaf.size() != found.n_trees)
            throw std::invalid_argument(std::to_string(found.first_leaf.size()) + " first leaves; give one for each of the " +
                                        std::to_string(found.n_trees) + " trees");
        for (std::size_t t = 0; t < found.n_trees; ++t) {
            const std::size_t end = first_leaf_ && t + 1 < found.n_trees ? found.first(t + 1) : n_leaves_;
            if (end < found.first(t)) throw std::invalid_argument("first leaves have to ascend, up to the number of leaves");
            found.visit(t, [&](auto leaf_of, std::size_t first) { check_below(leaf_of, end - first); });
        }
        return found;
    }

    AnyNumbers<Matrix> leaves_;
    Vector<double> weights_;
    std::optional<Vector<std::uint32_t>> first_leaf_;
    std::size_t n_leaves_, n_threads_;
    std::optional<Regression> regression_;
};

template <class Regression>
nb::class_<Owned<Regression>> bind_regression(nb::module_& m, const char* name, const char* penalty, const char* matrix_limit,
                                              const char* text) {
    using Class = Owned<Regression>;
    return nb::class_<Class>(m, name, text)
        .def(nb::init<AnyNumbers<Matrix>, Vector<double>, std::size_t, double, std::size_t, std::size_t,
                      std::optional<Vector<std::uint32_t>>>(),
             array_arg("leaves"), array_arg("weights"), nb::arg("n_leaves"), nb::arg(penalty), nb::arg(matrix_limit),
             nb::arg("n_threads"), array_arg("first_leaf") = nb::none())
        .def("add_up", &Class::add_up, array_arg("values"), "Sum of the values of the leaves of each row.");
}

}  // namespace

void bind_leaf_system(nb::module_& m) {
    bind_regression<LeafSystem>(m, "LeafSystem", "l2", "direct_limit",
                                "Ridge regression on all leaves of a forest, whose splits are fixed.")
        .def("solve", &Owned<LeafSystem>::solve<double, double, std::size_t>, array_arg("targets"), array_arg("start"),
             nb::arg("tolerance"), nb::arg("of_start") = 0.0, nb::arg("max_iterations") = StopRule{}.max_iterations,
             "Leaf values of least penalised squares. Conjugate gradients leave a share `tolerance` of the gradient of leaves "
             "that "
             "are all zero, or `of_start` of that at the start, whichever is more.");
    bind_regression<LeafLasso>(m, "LeafLasso", "l1", "gram_limit",
                               "Lasso regression on all leaves of a forest, whose splits are fixed.")
        .def("solve", &Owned<LeafLasso>::solve<double>, array_arg("targets"), array_arg("start"), nb::arg("tolerance"),
             "Leaf values of least penalised squares.");
    m.def("add_leaf_values", &add_leaf_values, array_arg("sums"), array_arg("leaf_of"), array_arg("values"), nb::arg("factor"),
          nb::arg("n_threads"), "Add `factor` times the values of its leaf in one tree to the sums of each row, in place.");
}

}  // namespace spinney::python
