#include "task.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace spinney::python {
namespace {

ClassLoss class_loss(const std::string& name) {
    if (name == "zero_one") return ClassLoss::zero_one;
    if (name == "log_loss") return ClassLoss::log_loss;
    refuse("loss", name, "zero_one or log_loss");
}

TargetLoss value_loss(const std::string& name) {
    if (name == "squared_error") return TargetLoss::squared;
    if (name == "absolute_error") return TargetLoss::absolute;
    if (name == "huber") return TargetLoss::huber;
    refuse("loss", name, "squared_error, absolute_error or huber");
}

void check_values(const Targets& targets) {
    for (double weight : targets.weights)
        if (!(weight >= 0.0))
            throw std::invalid_argument("weight " + std::to_string(weight) + " is no weight; give numbers >= 0");
    if (std::ranges::none_of(targets.weights, [](double weight) { return weight > 0.0; }))
        throw std::invalid_argument("all weights are 0; give at least one row a positive weight");
    check_codes(targets);
}

LinearLeafOptions linear_options(const Task& task, const LinearOptions& solver) {
    LinearLeafOptions options{solver, ClassLoss::zero_one, TargetLoss::squared, task.huber_delta};
    options.solver.alpha = task.leaf_alpha;
    options.solver.ridge = task.leaf_ridge;
    options.solver.epochs = task.leaf_epochs;
    options.solver.n_threads = 1;
    return options;
}

std::unique_ptr<Leaves> constant_leaves(const Task& task, const Targets& targets, std::size_t n_leaves) {
    if (targets.values.empty()) return constant_class_leaves(targets, n_leaves, class_loss(task.loss));
    return constant_value_leaves(targets, n_leaves, value_loss(task.loss), task.huber_delta,
                                 {task.constant_l1, task.constant_l2});
}

}  // namespace

void refuse(const std::string& what, const std::string& value, const std::string& accepted) {
    throw std::invalid_argument(what + "='" + value + "' is not known; give " + accepted);
}

void check_codes(const Targets& targets) {
    for (std::int32_t code : targets.classes)
        if (code < 0 || static_cast<std::size_t>(code) >= targets.n_outputs)
            throw std::invalid_argument("class code out of range");
}

Targets targets_of(const Task& task, std::size_t n_rows, std::size_t n_features,
                   std::initializer_list<std::size_t> scaling_sizes) {
    const Targets targets{span_of(task.classes), {task.values.data(), task.values.size()}, span_of(task.weights), task.n_outputs};
    const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
    const bool has_targets = fits(targets.classes.size(), n_rows) && fits(targets.values.size(), n_rows * targets.n_outputs) &&
                             !(targets.classes.empty() && targets.values.empty());
    check_row_count(n_rows);
    if (n_rows == 0 || targets.weights.size() != n_rows || !has_targets ||
        std::ranges::any_of(scaling_sizes, [&](std::size_t size) { return size != n_features; }))
        throw std::invalid_argument("targets, weights and scaling must agree with the rows");
    check_values(targets);
    return targets;
}

std::unique_ptr<Leaves> make_leaves(const Task& task, const Rows& rows, const Scaling& scaling, std::span<const float> norms,
                                    const Targets& targets, std::size_t n_leaves, const LinearOptions& solver) {
    if (task.leaf != "constant" && task.leaf != "linear") refuse("leaf", task.leaf, "constant or linear");
    const bool is_classification = targets.values.empty();
    const LeafPenalty penalty{task.constant_l1, task.constant_l2};
    if (!is_classification && task.loss == "squared_hinge")
        return score_leaves(targets, n_leaves, ScoreLoss::squared_hinge, penalty);
    if (!is_classification && task.loss == "log_loss") return score_leaves(targets, n_leaves, ScoreLoss::log_loss, penalty);
    if (task.leaf == "constant") return constant_leaves(task, targets, n_leaves);
    LinearLeafOptions options = linear_options(task, solver);
    if (is_classification)
        options.class_loss = class_loss(task.loss);
    else
        options.target_loss = value_loss(task.loss);
    return std::visit([&](const auto& d) { return linear_leaves(d, scaling, norms, targets, n_leaves, options); }, rows.design);
}

LinearOptions solver_options(const nb::dict& given) {
    LinearOptions options;
    const std::map<std::string, std::size_t*> counts{
        {"max_newton", &options.max_newton}, {"epochs", &options.epochs}, {"newton_limit", &options.newton_limit}};
    const std::map<std::string, double*> reals{
        {"alpha", &options.alpha}, {"ridge", &options.ridge}, {"step", &options.step}, {"tolerance", &options.tolerance}};
    for (auto [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        if (counts.contains(name))
            *counts.at(name) = nb::cast<std::size_t>(value);
        else if (reals.contains(name))
            *reals.at(name) = nb::cast<double>(value);
        else
            throw std::invalid_argument("unknown solver option " + name);
    }
    return options;
}

void bind_task(nb::module_& m) {
    nb::class_<Task>(m, "Task", "What a tree has to predict, by which loss and with which leaves.")
        .def(nb::init<Vector<std::int32_t>, Matrix<double>, Vector<double>, std::size_t, std::string, std::string, double, double,
                      double, std::size_t, double, double>(),
             array_arg("classes"), array_arg("values"), array_arg("weights"), nb::arg("n_outputs"), nb::arg("loss"),
             nb::arg("leaf"), nb::arg("huber_delta"), nb::arg("leaf_alpha"), nb::arg("leaf_ridge"), nb::arg("leaf_epochs"),
             nb::arg("constant_l1") = 0.0, nb::arg("constant_l2") = 0.0);
}

}  // namespace spinney::python
