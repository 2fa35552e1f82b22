#include "spinney/optimizer.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "interrupt.hpp"
#include "rows.hpp"

namespace spinney::python {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& accepted) {
    throw std::invalid_argument(what + "='" + value + "' is not known; give " + accepted);
}

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

SplitKind split_kind(const std::string& name) {
    if (name == "oblique") return SplitKind::oblique;
    if (name == "axis") return SplitKind::axis;
    refuse("split", name, "oblique or axis");
}

StartKind start_kind(const std::string& name) {
    if (name == "random") return StartKind::random;
    if (name == "balanced") return StartKind::balanced;
    if (name == "supervised") return StartKind::supervised;
    refuse("init", name, "random, balanced or supervised");
}

/// What Python says of the task; arrays are borrowed and kept alive by Optimizer.
struct Task {
    Vector<std::int32_t> classes;
    Matrix<double> values;
    Vector<double> weights;
    std::size_t n_outputs;
    std::string loss, leaf;
    double huber_delta, leaf_alpha, leaf_ridge;
    std::size_t leaf_epochs;
    double constant_l1 = 0.0, constant_l2 = 0.0;
};

class Base {
public:
    virtual ~Base() = default;  // virtual: one Python class over both kinds of rows
    virtual void draw_splits(const Start& start) = 0;
    virtual void set_splits(SplitTable splits, LeafTable leaves) = 0;
    virtual void resume(SplitTable splits, LeafTable leaves, std::span<const std::uint8_t> fitted) = 0;
    [[nodiscard]] virtual std::span<const std::uint8_t> fitted() const = 0;
    virtual void set_leaves(LeafTable leaves) = 0;
    virtual void limit_weights(std::size_t of_split, std::size_t of_leaf) = 0;
    virtual void solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) = 0;
    virtual void fit_leaves(std::uint64_t sweep, bool is_guarded) = 0;
    virtual void relax_leaves(const RelaxOptions& options) = 0;
    virtual void clear_empty_leaves() = 0;
    [[nodiscard]] virtual Objective objective(std::span<const std::uint8_t> counts) const = 0;
    [[nodiscard]] virtual std::size_t count_active() const = 0;
    virtual void keep() = 0;
    virtual void restore() = 0;
    [[nodiscard]] virtual const TreeState& kept() const = 0;
    [[nodiscard]] virtual CarePoints care_points(std::size_t node) = 0;
    [[nodiscard]] virtual const TreeState& state() const = 0;
    [[nodiscard]] virtual const Topology& topology() const = 0;
    [[nodiscard]] virtual std::size_t n_features() const = 0;
    [[nodiscard]] virtual std::size_t count_reach(std::size_t node) const = 0;
    [[nodiscard]] virtual std::span<const std::uint32_t> members() const = 0;
};

template <Design D>
class Typed final : public Base {
public:
    Typed(const D& rows, Scaling scaling, const Targets& targets, const Topology& topology, const Task& task,
          const OptimizerOptions& options)
        : rows_(rows), scaling_(std::move(scaling)),
          norms_(needs_norms(task, options) ? squared_norms(rows_, scaling_, options.n_threads) : std::vector<float>()),
          optimizer_(rows_, scaling_, norms_, targets, topology, make_leaves(targets, topology, task, options), options) {}

    void draw_splits(const Start& start) override { optimizer_.draw_splits(start); }
    void set_splits(SplitTable splits, LeafTable leaves) override { optimizer_.set_splits(std::move(splits), std::move(leaves)); }
    void resume(SplitTable splits, LeafTable leaves, std::span<const std::uint8_t> fitted) override {
        optimizer_.resume(std::move(splits), std::move(leaves), fitted);
    }
    std::span<const std::uint8_t> fitted() const override { return optimizer_.fitted(); }
    void set_leaves(LeafTable leaves) override { optimizer_.set_leaves(std::move(leaves)); }
    void limit_weights(std::size_t of_split, std::size_t of_leaf) override { optimizer_.limit_weights(of_split, of_leaf); }
    void solve_level(std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) override {
        optimizer_.solve_level(depth, sweep, is_guarded, is_next_below);
    }
    void fit_leaves(std::uint64_t sweep, bool is_guarded) override { optimizer_.fit_leaves(sweep, is_guarded); }
    void relax_leaves(const RelaxOptions& options) override { optimizer_.relax_leaves(options); }
    void clear_empty_leaves() override { optimizer_.clear_empty_leaves(); }
    Objective objective(std::span<const std::uint8_t> counts) const override { return optimizer_.objective(counts); }
    std::size_t count_active() const override { return optimizer_.count_active(); }
    void keep() override { kept_ = optimizer_.state(); }
    void restore() override { optimizer_.restore(kept()); }
    const TreeState& kept() const override {
        if (kept_.leaf_of.empty()) throw std::logic_error("nothing was kept yet; call keep() first");
        return kept_;
    }
    CarePoints care_points(std::size_t node) override { return optimizer_.care_points(node); }
    const TreeState& state() const override { return optimizer_.state(); }
    const Topology& topology() const override { return optimizer_.topology(); }
    std::size_t n_features() const override { return rows_.n_features; }
    std::size_t count_reach(std::size_t node) const override { return optimizer_.count_reach(node); }
    std::span<const std::uint32_t> members() const override { return optimizer_.members(); }

private:
    bool needs_norms(const Task& task, const OptimizerOptions& options) const {
        return task.leaf == "linear" || rows_.n_features > options.solver.newton_limit;
    }

    std::unique_ptr<Leaves> make_leaves(const Targets& targets, const Topology& topology, const Task& task,
                                        const OptimizerOptions& options) const {
        const bool is_classification = targets.values.empty();
        const std::size_t n_leaves = topology.n_leaves();
        if (task.leaf != "constant" && task.leaf != "linear") refuse("leaf", task.leaf, "constant or linear");
        const LeafPenalty penalty{task.constant_l1, task.constant_l2};
        if (!is_classification && task.loss == "squared_hinge") return score_leaves(targets, n_leaves, ScoreLoss::squared_hinge, penalty);
        if (!is_classification && task.loss == "log_loss") return score_leaves(targets, n_leaves, ScoreLoss::log_loss, penalty);
        LinearLeafOptions leaf{options.solver, ClassLoss::zero_one, TargetLoss::squared, task.huber_delta};
        if (is_classification)
            leaf.class_loss = class_loss(task.loss);
        else
            leaf.target_loss = value_loss(task.loss);
        if (task.leaf == "constant" && is_classification) return constant_class_leaves(targets, n_leaves, leaf.class_loss);
        if (task.leaf == "constant") return constant_value_leaves(targets, n_leaves, leaf.target_loss, task.huber_delta, penalty);
        leaf.solver.alpha = task.leaf_alpha;
        leaf.solver.ridge = task.leaf_ridge;
        leaf.solver.epochs = task.leaf_epochs;
        leaf.solver.n_threads = 1;
        return linear_leaves(rows_, scaling_, norms_, targets, n_leaves, leaf);
    }

    D rows_;
    Scaling scaling_;
    std::vector<float> norms_;
    TreeOptimizer<D> optimizer_;
    TreeState kept_;
};

/// Numbers of a dict of options; an unknown name is a programming error and is refused.
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

class Optimizer {
public:
    Optimizer(const Rows& rows, const Vector<double>& mean, const Vector<double>& inverse_scale,
              const Vector<std::int32_t>& left, const Vector<std::int32_t>& right, Task task, const nb::dict& solver,
              const std::string& split, std::size_t n_threads, std::uint64_t seed, std::size_t max_features,
              std::optional<std::uint64_t> start_seed, const std::optional<Vector<double>>& deviation)
        : rows_(rows), task_(std::move(task)) {
        const auto m = span_of(mean);
        const auto s = span_of(inverse_scale);
        const auto v = deviation ? span_of(*deviation) : std::span<const double>();
        const Targets targets{span_of(task_.classes), {task_.values.data(), task_.values.size()}, span_of(task_.weights), task_.n_outputs};
        const OptimizerOptions options{split_kind(split), solver_options(solver), max_features, n_threads, seed, start_seed.value_or(seed)};
        run_stoppable([&] {
            const Topology topology(span_of(left), span_of(right));
            std::visit([&](const auto& d) {
                check(d.n_rows, d.n_features, targets, {m.size(), s.size(), deviation ? v.size() : d.n_features});
                using D = std::decay_t<decltype(d)>;
                typed_ = std::make_unique<Typed<D>>(d, Scaling({m.begin(), m.end()}, {s.begin(), s.end()}, {v.begin(), v.end()}), targets, topology, task_, options);
            }, rows_.design);
        });
    }

    Base& operator*() { return *typed_; }
    const Base& operator*() const { return *typed_; }

private:
    static void check(std::size_t n_rows, std::size_t n_features, const Targets& targets, std::initializer_list<std::size_t> sizes) {
        const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
        const bool has_targets = fits(targets.classes.size(), n_rows) && fits(targets.values.size(), n_rows * targets.n_outputs)
                                 && !(targets.classes.empty() && targets.values.empty());
        check_row_count(n_rows);
        if (n_rows == 0 || targets.weights.size() != n_rows || !has_targets
            || std::ranges::any_of(sizes, [&](std::size_t size) { return size != n_features; }))
            throw std::invalid_argument("targets, weights and scaling must agree with the rows");
        for (double weight : targets.weights)
            if (!(weight >= 0.0)) throw std::invalid_argument("weight " + std::to_string(weight) + " is no weight; give numbers >= 0");
        if (std::ranges::none_of(targets.weights, [](double weight) { return weight > 0.0; }))
            throw std::invalid_argument("all weights are 0; give at least one row a positive weight");
        for (std::int32_t code : targets.classes)
            if (code < 0 || static_cast<std::size_t>(code) >= targets.n_outputs) throw std::invalid_argument("class code out of range");
    }

    Rows rows_;
    Task task_;
    std::unique_ptr<Base> typed_;
};

/// Rows of `ranked` (by leaf rank) in the order of the leaf nodes, and back.
template <class T>
std::vector<T> reorder_leaves(const Topology& topology, std::span<const T> table, bool to_node_order) {
    std::vector<std::size_t> rank;  // rank of the r-th leaf in node order
    for (std::size_t node = 0; node < topology.n_nodes(); ++node)
        if (topology.is_leaf(node)) rank.push_back(topology.first_leaf[node]);
    const std::size_t size = table.size() / rank.size();
    std::vector<T> out(table.size());
    for (std::size_t r = 0; r < rank.size(); ++r) {
        const std::size_t from = to_node_order ? rank[r] : r;
        const std::size_t to = to_node_order ? r : rank[r];
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(from * size), size, out.begin() + static_cast<std::ptrdiff_t>(to * size));
    }
    return out;
}

struct Csr {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> values;

    void add_row(std::span<const float> full) {
        add_row_if(full, [](float x) { return x != 0.0F; });
    }
    /// Leaves out positive zeros alone, so that the row can be restored to the bit.
    void add_exact_row(std::span<const float> full) {
        add_row_if(full, [](float x) { return std::bit_cast<std::uint32_t>(x) != 0; });
    }
    template <class IsKept>
    void add_row_if(std::span<const float> full, const IsKept& is_kept) {
        for (std::size_t j = 0; j < full.size(); ++j)
            if (is_kept(full[j])) {
                indices.push_back(static_cast<std::int32_t>(j));
                values.push_back(full[j]);
            }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    [[nodiscard]] auto to_python() && { return std::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(values))); }
};

/// Bias a node, hyperplanes as CSR over nodes.
auto splits(const Optimizer& self) {
    const auto& topology = (*self).topology();
    const auto& table = (*self).state().splits;
    const std::size_t d = (*self).n_features();
    Csr csr;
    std::vector<double> bias(topology.n_nodes());
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) {
        if (topology.is_leaf(node)) {
            csr.add_row({});
            continue;
        }
        const auto split = static_cast<std::size_t>(topology.split_of_node[node]);
        csr.add_row({table.weights.data() + split * d, d});
        bias[node] = table.bias[split];
    }
    return std::make_tuple(to_numpy(std::move(bias)), std::move(csr).to_python());
}

/// Leaf values (n_leaves x n_outputs) in node order and the CSR of linear leaves.
auto leaves(const Optimizer& self) {
    const auto& topology = (*self).topology();
    const auto& table = (*self).state().leaves;
    const std::size_t n_outputs = table.values.size() / topology.n_leaves();
    auto values = reorder_leaves<double>(topology, table.values, true);
    const auto weights = reorder_leaves<float>(topology, table.weights, true);
    Csr csr;
    const std::size_t n_rows = topology.n_leaves() * n_outputs;
    const std::size_t d = weights.size() / n_rows;
    for (std::size_t row = 0; row < n_rows; ++row) csr.add_row({weights.data() + row * d, d});
    return std::make_tuple(to_numpy(std::move(values), {topology.n_leaves(), n_outputs}), std::move(csr).to_python());
}

/// Rows that reach each node.
auto node_reach(const Optimizer& self) {
    const auto& topology = (*self).topology();
    std::vector<std::int64_t> reach(topology.n_nodes());
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) reach[node] = static_cast<std::int64_t>((*self).count_reach(node));
    return to_numpy(std::move(reach));
}

/// Full rows of d numbers each as CSR, to the bit.
Csr exact_rows(std::span<const float> full, std::size_t d) {
    Csr csr;
    for (std::size_t first = 0; first < full.size(); first += d) csr.add_exact_row(full.subspan(first, d));
    return csr;
}

/// Everything that decides how a tree goes on, in the order of the core: biases and hyperplanes of the splits, values and
/// hyperplanes of the leaves, and which leaves have been fitted.
auto exact_state(const Optimizer& self, const TreeState& state, std::span<const std::uint8_t> fitted) {
    const std::size_t d = (*self).n_features();
    return std::make_tuple(to_numpy(std::vector<double>(state.splits.bias)), exact_rows(state.splits.weights, d).to_python(),
                           to_numpy(std::vector<double>(state.leaves.values)), exact_rows(state.leaves.weights, d).to_python(),
                           to_numpy(std::vector<std::uint8_t>(fitted.begin(), fitted.end())));
}

using CsrArrays = std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>>;

[[noreturn]] void refuse_state(const std::string& what) {
    throw std::invalid_argument("the given state does not fit this task: " + what);
}

/// The full rows of a CSR; throws unless it has so many rows and every entry is in place and finite.
std::vector<float> full_rows(const CsrArrays& csr, std::size_t n_rows, std::size_t d) {
    const auto indptr = span_of(std::get<0>(csr));
    const auto indices = span_of(std::get<1>(csr));
    const auto values = span_of(std::get<2>(csr));
    if (indptr.size() != n_rows + 1 || indices.size() != values.size() || indptr.front() != 0
        || indptr.back() != static_cast<std::int64_t>(indices.size()) || !std::ranges::is_sorted(indptr))
        refuse_state("its hyperplanes have other sizes");
    std::vector<float> full(n_rows * d);
    for (std::size_t row = 0; row < n_rows; ++row)
        for (auto k = static_cast<std::size_t>(indptr[row]); k < static_cast<std::size_t>(indptr[row + 1]); ++k) {
            if (indices[k] < 0 || static_cast<std::size_t>(indices[k]) >= d) refuse_state("a feature is out of range");
            if (!std::isfinite(values[k])) refuse_state("a weight is not finite");
            full[row * d + static_cast<std::size_t>(indices[k])] = values[k];
        }
    return full;
}

std::vector<double> finite_values(const Vector<double>& values, std::size_t size) {
    const auto given = span_of(values);
    if (given.size() != size) refuse_state("it has " + std::to_string(given.size()) + " numbers where " + std::to_string(size) + " belong");
    if (!std::ranges::all_of(given, [](double x) { return std::isfinite(x); })) refuse_state("a number is not finite");
    return {given.begin(), given.end()};
}

void set_state(Optimizer& self, const Vector<double>& bias, const CsrArrays& splits, const Vector<double>& leaf_values,
               const CsrArrays& leaf_weights, const Vector<std::uint8_t>& fitted) {
    const std::size_t d = (*self).n_features();
    const auto& present = (*self).state().leaves;
    const auto flags = span_of(fitted);
    if (flags.size() != (*self).fitted().size()) refuse_state("it has flags of other leaves");
    const std::size_t n_splits = (*self).topology().n_splits;
    SplitTable table{full_rows(splits, n_splits, d), finite_values(bias, n_splits)};
    LeafTable leaves{finite_values(leaf_values, present.values.size()), full_rows(leaf_weights, present.weights.size() / d, d)};
    run_stoppable([&] { (*self).resume(std::move(table), std::move(leaves), flags); });
}

void set_tree(Optimizer& self, const Vector<double>& bias, const Vector<std::int64_t>& indptr,
              const Vector<std::int32_t>& indices, const Vector<float>& weights, const Matrix<double>& leaf_values,
              const Matrix<float>& leaf_weights) {
    const auto& topology = (*self).topology();
    const std::size_t d = (*self).n_features();
    check_tree({topology.left, topology.right, span_of(bias), span_of(indptr), span_of(indices), span_of(weights), d});
    SplitTable table{std::vector<float>(topology.n_splits * d), std::vector<double>(topology.n_splits)};
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) {
        if (topology.is_leaf(node)) continue;
        const auto split = static_cast<std::size_t>(topology.split_of_node[node]);
        table.bias[split] = bias.data()[node];
        for (auto k = indptr.data()[node]; k < indptr.data()[node + 1]; ++k)
            table.weights[split * d + static_cast<std::size_t>(indices.data()[k])] = weights.data()[k];
    }
    const auto& present = (*self).state().leaves;
    const bool keeps_leaves = leaf_values.size() > 0;
    if (keeps_leaves && (leaf_values.size() != present.values.size() || leaf_weights.size() != present.weights.size()))
        throw std::invalid_argument("the given leaves do not fit this task");
    LeafTable leaf_table;
    if (keeps_leaves)
        leaf_table = {reorder_leaves<double>(topology, {leaf_values.data(), leaf_values.size()}, false),
                      reorder_leaves<float>(topology, {leaf_weights.data(), leaf_weights.size()}, false)};
    run_stoppable([&] { (*self).set_splits(std::move(table), std::move(leaf_table)); });
}

}  // namespace

void bind_optimizer(nb::module_& m) {
    nb::class_<Task>(m, "Task", "What a tree has to predict, by which loss and with which leaves.")
        .def(nb::init<Vector<std::int32_t>, Matrix<double>, Vector<double>, std::size_t, std::string, std::string, double,
                      double, double, std::size_t, double, double>(),
             array_arg("classes"), array_arg("values"), array_arg("weights"), nb::arg("n_outputs"), nb::arg("loss"),
             nb::arg("leaf"), nb::arg("huber_delta"), nb::arg("leaf_alpha"), nb::arg("leaf_ridge"), nb::arg("leaf_epochs"),
             nb::arg("constant_l1") = 0.0, nb::arg("constant_l2") = 0.0);
    nb::class_<Optimizer>(m, "TreeOptimizer", "One tree under alternating optimisation.")
        .def(nb::init<const Rows&, const Vector<double>&, const Vector<double>&, const Vector<std::int32_t>&,
                      const Vector<std::int32_t>&, Task, const nb::dict&, const std::string&, std::size_t, std::uint64_t,
                      std::size_t, std::optional<std::uint64_t>, std::optional<Vector<double>>>(),
             nb::arg("rows"), array_arg("mean"), array_arg("inverse_scale"), array_arg("left"), array_arg("right"), nb::arg("task"),
             nb::arg("solver"), nb::arg("split"), nb::arg("n_threads"), nb::arg("seed"), nb::arg("max_features") = 0,
             nb::arg("start_seed") = nb::none(), array_arg("deviation") = nb::none())
        .def("draw_splits", [](Optimizer& self, const std::string& kind, double length, bool is_axis) {
            const Start start{start_kind(kind), length, is_axis};
            run_stoppable([&] { (*self).draw_splits(start); });
        }, nb::arg("kind"), nb::arg("length"), nb::arg("is_axis") = false)
        .def("set_tree", &set_tree, array_arg("bias"), array_arg("indptr"), array_arg("indices"), array_arg("weights"),
             array_arg("leaf_values"), array_arg("leaf_weights"))
        .def("set_leaves", [](Optimizer& self, const Matrix<double>& values) {
            const auto& topology = (*self).topology();
            if (values.size() != (*self).state().leaves.values.size()) throw std::invalid_argument("the given leaves do not fit this task");
            LeafTable table{reorder_leaves<double>(topology, {values.data(), values.size()}, false), {}};
            run_stoppable([&] { (*self).set_leaves(std::move(table)); });
        }, array_arg("values"), "Take constant leaves fitted elsewhere, and look at changed targets.")
        .def("state", [](const Optimizer& self) { return exact_state(self, (*self).state(), (*self).fitted()); },
             "All that decides how the tree goes on after its leaves were fitted, to the bit.")
        .def("kept_state", [](const Optimizer& self) {
            // What was kept counts as fitted once it is restored.
            return exact_state(self, (*self).kept(), std::vector<std::uint8_t>((*self).fitted().size(), 1));
        }, "The same of the tree that was kept.")
        .def("set_state", &set_state, array_arg("bias"), array_arg("splits"), array_arg("leaf_values"), array_arg("leaf_weights"),
             array_arg("fitted"), "Go on from what `state` gave, in an optimiser of the same task.")
        .def("limit_weights", [](Optimizer& self, std::size_t of_split, std::size_t of_leaf) { (*self).limit_weights(of_split, of_leaf); },
             nb::arg("of_split"), nb::arg("of_leaf"), "Most non-zero weights of a hyperplane from now on; 0 for any number.")
        .def("solve_level", [](Optimizer& self, std::size_t depth, std::uint64_t sweep, bool is_guarded, bool is_next_below) {
            if (depth >= (*self).topology().levels.size())
                throw std::invalid_argument("level " + std::to_string(depth) + " is out of range; give one below n_levels");
            run_stoppable([&] { (*self).solve_level(depth, sweep, is_guarded, is_next_below); });
        }, nb::arg("depth"), nb::arg("sweep"), nb::arg("is_guarded"), nb::arg("is_next_below") = false)
        .def("fit_leaves", [](Optimizer& self, std::uint64_t sweep, bool is_guarded) {
            run_stoppable([&] { (*self).fit_leaves(sweep, is_guarded); });
        }, nb::arg("sweep"), nb::arg("is_guarded"))
        .def("relax_leaves", [](Optimizer& self, double ridge) {
            run_stoppable([&] { (*self).relax_leaves({.ridge = ridge}); });
        }, nb::arg("ridge"), "Refit linear leaves on the features they use, without their penalty.")
        .def("clear_empty_leaves", [](Optimizer& self) { (*self).clear_empty_leaves(); }, nb::call_guard<nb::gil_scoped_release>(),
             "Free leaves that no row reaches of their penalty.")
        .def("objective", [](const Optimizer& self, const std::optional<Vector<std::uint8_t>>& counts) {
            const auto flags = counts ? span_of(*counts) : std::span<const std::uint8_t>();
            if (counts && flags.size() != (*self).topology().n_nodes())
                throw std::invalid_argument(std::to_string(flags.size()) + " flags; give one for each of the " + std::to_string((*self).topology().n_nodes()) + " nodes");
            const Objective found = run_stoppable([&] { return (*self).objective(flags); });
            return std::make_tuple(found.loss, found.penalty);
        }, array_arg("counts") = nb::none(), "Loss and penalties; given a flag a node, the penalties of flagged nodes alone.")
        .def("count_active", [](const Optimizer& self) { return (*self).count_active(); }, nb::call_guard<nb::gil_scoped_release>())
        .def("keep", [](Optimizer& self) { (*self).keep(); }, nb::call_guard<nb::gil_scoped_release>())
        .def("restore", [](Optimizer& self) { (*self).restore(); }, nb::call_guard<nb::gil_scoped_release>())
        .def("care_points", [](Optimizer& self, std::size_t node) {
            if (node >= (*self).topology().n_nodes() || (*self).topology().is_leaf(node))
                throw std::invalid_argument("node " + std::to_string(node) + " is no split of this tree");
            auto care = run_stoppable([&] { return (*self).care_points(node); });
            return std::make_tuple(to_numpy(std::move(care.rows)), to_numpy(std::move(care.labels)), to_numpy(std::move(care.weights)));
        }, nb::arg("node"))
        .def("leaf_of", [](const Optimizer& self) {
            const auto& leaf_of = (*self).state().leaf_of;
            std::vector<std::int32_t> nodes(leaf_of.size(), -1);
            for (std::uint32_t row : (*self).members()) nodes[row] = static_cast<std::int32_t>((*self).topology().leaf_node[leaf_of[row]]);
            return to_numpy(std::move(nodes));
        }, "Leaf of each row, -1 for rows of no weight.")
        .def("splits", &splits)
        .def("leaves", &leaves)
        .def("reach", &node_reach)
        .def_prop_ro("n_levels", [](const Optimizer& self) { return (*self).topology().levels.size(); });
}

}  // namespace spinney::python
