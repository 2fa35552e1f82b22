#include "spinney/leaf_system.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "interrupt.hpp"
#include "rows.hpp"

namespace spinney::python {
namespace {

/// The system with the arrays it borrows.
class OwnedSystem {
public:
    OwnedSystem(Matrix<std::uint32_t> leaves, Vector<double> weights, std::size_t n_leaves, double l2,
                std::size_t direct_limit, std::size_t n_threads)
        : leaves_(std::move(leaves)), weights_(std::move(weights)), n_leaves_(n_leaves) {
        const double penalty = checked_penalty(l2);
        const nb::gil_scoped_release release;
        system_.emplace(checked_design(), penalty, direct_limit, n_threads);
    }

    [[nodiscard]] nb::ndarray<nb::numpy, double> solve(const Matrix<double>& targets, const Matrix<double>& start,
                                                         double tolerance) const {
        const std::size_t n_outputs = targets.shape(1);
        if (targets.shape(0) != weights_.shape(0) || start.shape(0) != n_leaves_ || start.shape(1) != n_outputs)
            throw std::invalid_argument("targets need one row a row, the start one row a leaf, and both the same columns");
        std::vector<double> values(start.data(), start.data() + start.size());
        bool is_done = false;
        {
            const nb::gil_scoped_release release;
            is_done = system_->solve({targets.data(), targets.size()}, n_outputs, values, tolerance, has_signal);
        }
        raise_if_interrupted(is_done);
        return to_numpy(std::move(values), {n_leaves_, n_outputs});
    }

    [[nodiscard]] nb::ndarray<nb::numpy, double> add_up(const Matrix<double>& values) const {
        if (values.shape(0) != n_leaves_) throw std::invalid_argument("values need one row a leaf");
        std::vector<double> sums(weights_.shape(0) * values.shape(1));
        {
            const nb::gil_scoped_release release;
            system_->add_up({values.data(), values.size()}, values.shape(1), sums);
        }
        return to_numpy(std::move(sums), {weights_.shape(0), values.shape(1)});
    }

private:
    [[nodiscard]] LeafDesign checked_design() const {
        if (leaves_.shape(1) != weights_.shape(0)) throw std::invalid_argument("one weight a row is needed");
        const std::span<const std::uint32_t> leaves(leaves_.data(), leaves_.size());
        if (std::ranges::any_of(leaves, [&](std::uint32_t leaf) { return leaf >= n_leaves_; }))
            throw std::invalid_argument("leaf number out of range");
        return {leaves, span_of(weights_), leaves_.shape(0), n_leaves_};
    }
    static double checked_penalty(double l2) {
        if (!(l2 > 0.0)) throw std::invalid_argument("l2=" + std::to_string(l2) + " leaves the leaves undetermined; give a number > 0");
        return l2;
    }

    Matrix<std::uint32_t> leaves_;
    Vector<double> weights_;
    std::size_t n_leaves_;
    std::optional<LeafSystem> system_;
};

}  // namespace

void bind_leaf_system(nb::module_& m) {
    nb::class_<OwnedSystem>(m, "LeafSystem", "Ridge regression on all leaves of a forest, whose splits are fixed.")
        .def(nb::init<Matrix<std::uint32_t>, Vector<double>, std::size_t, double, std::size_t, std::size_t>(),
             nb::arg("leaves"), nb::arg("weights"), nb::arg("n_leaves"), nb::arg("l2"), nb::arg("direct_limit"),
             nb::arg("n_threads"))
        .def("solve", &OwnedSystem::solve, nb::arg("targets"), nb::arg("start"), nb::arg("tolerance"),
             "Leaf values of least penalised squares.")
        .def("add_up", &OwnedSystem::add_up, nb::arg("values"), "Sum of the values of the leaves of each row.");
}

}  // namespace spinney::python
