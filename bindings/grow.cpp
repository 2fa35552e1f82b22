#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"
#include "spinney/grow/grower.hpp"
#include "task.hpp"

namespace spinney::python {
namespace {

/// All that Python says of a split besides its name; each rule reads its own part.
struct SplitOptions {
    std::string name;
    CO2Options co2;
    std::size_t n_steps = 100;     ///< central_axis, perceptron
    std::size_t max_iter = 50;     ///< perceptron
    std::size_t n_restarts = 0;    ///< oc1
    std::size_t n_jumps = 5;       ///< oc1
    std::size_t most_columns = 3;  ///< projections
    double ridge = 0.01;           ///< ridge, logistic
};

template <Design D>
std::unique_ptr<SplitRule<D>> make_rule(const SplitOptions& options) {
    if (options.name == "axis") return axis_rule<D>();
    if (options.name == "co2") return co2_rule<D>(options.co2);
    if (options.name == "central_axis") return in_subspaces(central_axis_rule<D>(options.n_steps));
    if (options.name == "perceptron") return in_subspaces(perceptron_rule<D>(options.max_iter, options.n_steps));
    if (options.name == "oc1") return oc1_rule<D>(options.n_restarts, options.n_jumps);
    if (options.name == "probes") return probes_rule<D>();
    if (options.name == "projections") return projections_rule<D>(options.most_columns);
    if (options.name == "ridge") return linear_rule<D>(LinearModel::ridge, options.ridge);
    if (options.name == "lda") return linear_rule<D>(LinearModel::lda, options.ridge);
    if (options.name == "logistic") return linear_rule<D>(LinearModel::logistic, options.ridge);
    throw std::invalid_argument("split='" + options.name + "' is not known");
}

Impurity impurity_of(const std::string& name) {
    if (name == "entropy") return Impurity::entropy;
    if (name == "gini") return Impurity::gini;
    refuse("criterion", name, "entropy or gini");
}

void check_targets(const Targets& targets, std::size_t n_rows) {
    const bool has_classes = !targets.classes.empty();
    if (targets.weights.size() != n_rows || targets.n_outputs == 0 ||
        (has_classes ? targets.classes.size() != n_rows : targets.values.size() != n_rows * targets.n_outputs))
        throw std::invalid_argument("targets and weights must agree with the rows");
    // Rows of weight 0 take no part, and the mean of no rows is no number.
    if (std::ranges::none_of(targets.weights, [](double weight) { return weight > 0.0; }))
        throw std::invalid_argument("some weight must be positive");
    check_codes(targets);
}

/// Whether to stop: a signal, or a callback that raises. Asked without the GIL, which is taken only now and then, as
/// has_signal does.
class Unwanted {
  public:
    explicit Unwanted(const nb::object& callback) : callback_(callback) {}
    bool operator()() {
        if (has_signal()) return true;
        if (callback_.is_none() || Clock::now() < next_look_) return false;
        next_look_ = Clock::now() + std::chrono::milliseconds(50);
        const nb::gil_scoped_acquire acquire;
        try {
            callback_();
        } catch (nb::python_error& error) {
            error.restore();
            return true;
        }
        return false;
    }

  private:
    using Clock = std::chrono::steady_clock;
    const nb::object& callback_;
    Clock::time_point next_look_{};
};

auto grow(const Rows& rows, const Vector<double>& mean, const Vector<double>& inverse_scale, const Vector<std::int32_t>& classes,
          const Matrix<double>& values, const Vector<double>& weights, const Vector<double>& judge_weights, std::size_t n_outputs,
          const SplitOptions& split, const GrowOptions& options, const nb::object& callback) {
    Unwanted unwanted(callback);
    auto tree = run_stoppable(
        [&] {
            const Targets targets{span_of(classes), {values.data(), values.size()}, span_of(weights), n_outputs};
            const auto m = span_of(mean);
            const auto s = span_of(inverse_scale);
            const Scaling scaling({m.begin(), m.end()}, {s.begin(), s.end()});
            return std::visit(
                [&](const auto& d) {
                    using D = std::remove_cvref_t<decltype(d)>;
                    check_row_count(d.n_rows);
                    if (m.size() != d.n_features || s.size() != d.n_features)
                        throw std::invalid_argument("scaling must agree with the rows");
                    check_targets(targets, d.n_rows);
                    if (judge_weights.size() != 0 && judge_weights.size() != d.n_rows)
                        throw std::invalid_argument("weights of judges must be one for each row, or none");
                    return grow_tree(d, scaling, targets, *make_rule<D>(split), options, span_of(judge_weights),
                                     rows.table.get());
                },
                rows.design);
        },
        std::ref(unwanted));
    const std::size_t n_leaves = tree.leaf_values.size() / n_outputs;
    return std::make_tuple(to_numpy(std::move(tree.left)), to_numpy(std::move(tree.right)), to_numpy(std::move(tree.bias)),
                           to_numpy(std::move(tree.indptr)), to_numpy(std::move(tree.indices)), to_numpy(std::move(tree.weights)),
                           to_numpy(std::move(tree.leaf_values), {n_leaves, n_outputs}));
}

}  // namespace

void bind_grow(nb::module_& m) {
    nb::class_<CO2Options>(m, "CO2Options", "How a CO2 stump is optimised.")
        .def(nb::init<>())
        .def_rw("max_norm", &CO2Options::max_norm)
        .def_rw("learning_rate", &CO2Options::learning_rate)
        .def_rw("momentum", &CO2Options::momentum)
        .def_rw("batch_size", &CO2Options::batch_size)
        .def_rw("max_epochs", &CO2Options::max_epochs)
        .def_rw("refresh_epochs", &CO2Options::refresh_epochs)
        .def_rw("relabel_epochs", &CO2Options::relabel_epochs)
        .def_rw("tolerance", &CO2Options::tolerance);
    nb::class_<SplitOptions>(m, "SplitOptions", "Name of a split and what its rule wants to know.")
        .def(
            "__init__", [](SplitOptions* self, const std::string& name) { new (self) SplitOptions{name}; }, nb::arg("name"))
        .def_rw("co2", &SplitOptions::co2)
        .def_rw("n_steps", &SplitOptions::n_steps)
        .def_rw("max_iter", &SplitOptions::max_iter)
        .def_rw("n_restarts", &SplitOptions::n_restarts)
        .def_rw("n_jumps", &SplitOptions::n_jumps)
        .def_rw("most_columns", &SplitOptions::most_columns)
        .def_rw("ridge", &SplitOptions::ridge);
    nb::class_<GrowOptions>(m, "GrowOptions", "When a tree stops to grow, and its seed.")
        .def(
            "__init__",
            [](GrowOptions* self, const std::string& criterion, std::size_t max_depth, std::size_t min_samples_split,
               double min_leaf_weight, std::size_t n_candidates, std::uint64_t seed, std::size_t n_threads) {
                new (self) GrowOptions{impurity_of(criterion), max_depth, min_samples_split, min_leaf_weight,
                                       n_candidates,           seed,      n_threads};
            },
            nb::arg("criterion"), nb::arg("max_depth"), nb::arg("min_samples_split"), nb::arg("min_leaf_weight"),
            nb::arg("n_candidates"), nb::arg("seed"), nb::arg("n_threads"));
    m.def("grow_tree", &grow, nb::arg("rows"), array_arg("mean"), array_arg("inverse_scale"), array_arg("classes"),
          array_arg("values"), array_arg("weights"), array_arg("judge_weights"), nb::arg("n_outputs"), nb::arg("split"),
          nb::arg("options"), nb::arg("callback").none(),
          "A tree grown greedily: children, biases, hyperplanes and leaf values.");
}

}  // namespace spinney::python
