#include "spinney/leaf_system.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

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

/// A regression on the leaves, with the arrays it borrows.
template <class Regression>
class Owned {
  public:
    Owned(Matrix<std::uint32_t> leaves, Vector<double> weights, std::size_t n_leaves, double penalty, std::size_t matrix_limit,
          std::size_t n_threads)
        : leaves_(std::move(leaves)), weights_(std::move(weights)), n_leaves_(n_leaves), n_threads_(n_threads) {
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
    [[nodiscard]] LeafDesign design() const {
        return {{leaves_.data(), leaves_.size()}, span_of(weights_), leaves_.shape(0), n_leaves_};
    }
    [[nodiscard]] LeafDesign checked_design() const {
        if (leaves_.shape(1) != weights_.shape(0)) throw std::invalid_argument("one weight a row is needed");
        if (std::ranges::any_of(design().leaves, [&](std::uint32_t leaf) { return leaf >= n_leaves_; }))
            throw std::invalid_argument("leaf number out of range");
        return design();
    }

    Matrix<std::uint32_t> leaves_;
    Vector<double> weights_;
    std::size_t n_leaves_, n_threads_;
    std::optional<Regression> regression_;
};

template <class Regression>
nb::class_<Owned<Regression>> bind_regression(nb::module_& m, const char* name, const char* penalty, const char* matrix_limit,
                                              const char* text) {
    using Class = Owned<Regression>;
    return nb::class_<Class>(m, name, text)
        .def(nb::init<Matrix<std::uint32_t>, Vector<double>, std::size_t, double, std::size_t, std::size_t>(),
             array_arg("leaves"), array_arg("weights"), nb::arg("n_leaves"), nb::arg(penalty), nb::arg(matrix_limit),
             nb::arg("n_threads"))
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
}

}  // namespace spinney::python
