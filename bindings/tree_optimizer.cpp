#include "tree_optimizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spinney::python {
namespace {

SplitKind split_kind(const std::string& name) {
    if (name == "oblique") return SplitKind::oblique;
    if (name == "axis") return SplitKind::axis;
    refuse("split", name, "oblique or axis");
}

/// A tree reads the rows of weight out of the state, and no others.
void check_members(const RowState& state, std::span<const double> weights) {
    if (state.leaf_of.size() != weights.size())
        throw std::invalid_argument("the given state is of " + std::to_string(state.leaf_of.size()) + " rows; these are " +
                                    std::to_string(weights.size()));
    const auto members = state.sorted.members();
    if (std::ranges::any_of(members, [&](std::uint32_t row) { return !(weights[row] > 0.0); }) ||
        static_cast<std::size_t>(std::ranges::count_if(weights, [](double w) { return w > 0.0; })) != members.size())
        throw std::invalid_argument("the given state is of other weights; trees share one only if the same rows have weight");
}

}  // namespace

Optimizer::Optimizer(const Rows& rows, const Vector<double>& mean, const Vector<double>& inverse_scale,
                     const Vector<std::int32_t>& left, const Vector<std::int32_t>& right, Task task, const nb::dict& solver,
                     const std::string& split, std::size_t n_threads, std::uint64_t seed, std::size_t max_features,
                     std::optional<std::uint64_t> start_seed, const std::optional<Vector<double>>& deviation,
                     std::shared_ptr<RowState> state)
    : rows_(rows), task_(std::move(task)) {
    const auto m = span_of(mean);
    const auto s = span_of(inverse_scale);
    const auto v = deviation ? span_of(*deviation) : std::span<const double>();
    const OptimizerOptions options{split_kind(split),        solver_options(solver), max_features, n_threads, seed,
                                   start_seed.value_or(seed)};
    const auto build = [&]<class D>(const D& d) {
        const Topology topology(span_of(left), span_of(right));
        const Targets targets =
            targets_of(task_, d.n_rows, d.n_features, {m.size(), s.size(), deviation ? v.size() : d.n_features});
        if (state) check_members(*state, targets.weights);
        scaling_.emplace(std::vector(m.begin(), m.end()), std::vector(s.begin(), s.end()), std::vector(v.begin(), v.end()));
        if (task_.leaf == "linear") norms_ = rows_.table->squared_norms(*scaling_, n_threads);
        const std::span<const float> norms = norms_ ? std::span<const float>(*norms_) : std::span<const float>();
        tree_ = std::make_unique<TreeOptimizer<D>>(
            *rows_.table, *scaling_, targets, topology,
            make_leaves(task_, rows_, *scaling_, norms, targets, topology.n_leaves(), options.solver), options, state);
    };
    run_stoppable([&] { std::visit(build, rows_.design); });
}

const TreeState& Optimizer::kept() const {
    if (!kept_) throw std::logic_error("nothing was kept yet; call keep() first");
    return *kept_;
}

}  // namespace spinney::python
