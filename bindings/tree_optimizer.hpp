#pragma once
/// One tree under optimisation with everything that it borrows: one Python class over all kinds of rows.

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "interrupt.hpp"
#include "spinney/tao/optimizer.hpp"
#include "task.hpp"

namespace spinney::python {

class Optimizer {
  public:
    Optimizer(const Rows& rows, const Vector<double>& mean, const Vector<double>& inverse_scale, const Vector<std::int32_t>& left,
              const Vector<std::int32_t>& right, Task task, const nb::dict& solver, const std::string& split,
              std::size_t n_threads, std::uint64_t seed, std::size_t max_features, std::optional<std::uint64_t> start_seed,
              const std::optional<Vector<double>>& deviation, std::shared_ptr<RowState> state);
    Optimizer(const Optimizer&) = delete;  // the tree borrows the members above it
    Optimizer& operator=(const Optimizer&) = delete;

    /// ask(tree), whatever the kind of its rows.
    template <class Ask>
    decltype(auto) ask(const Ask& ask) const {
        return std::visit([&](const auto& tree) -> decltype(auto) { return ask(std::as_const(*tree)); }, tree_);
    }
    /// The same for a step that may take long: without the GIL, and stoppable.
    template <class Step>
    auto run(const Step& step) {
        return run_stoppable([&] { return std::visit([&](const auto& tree) { return step(*tree); }, tree_); });
    }

    [[nodiscard]] const Topology& topology() const {
        return ask([](const auto& tree) -> const Topology& { return tree.topology(); });
    }
    [[nodiscard]] const TreeState& state() const {
        return ask([](const auto& tree) -> const TreeState& { return tree.state(); });
    }
    /// Which leaves have been fitted: the part of a state that `state` does not hold.
    [[nodiscard]] std::span<const std::uint8_t> fitted() const {
        return ask([](const auto& tree) { return tree.fitted(); });
    }
    [[nodiscard]] std::size_t n_rows() const { return task_.weights.shape(0); }
    [[nodiscard]] std::size_t n_features() const { return scaling_->mean.size(); }
    /// Weights of a hyperplane in the state, which may be padded.
    [[nodiscard]] std::size_t width() const {
        return ask([](const auto& tree) { return tree.width(); });
    }

    void keep() { kept_ = state(); }
    [[nodiscard]] const TreeState& kept() const;

  private:
    template <class D>
    using TreeOf = std::unique_ptr<TreeOptimizer<D>>;

    Rows rows_;
    Task task_;
    std::optional<Scaling> scaling_;
    std::shared_ptr<const std::vector<float>> norms_;  ///< of use to linear leaves alone
    ForEachDesign<TreeOf>::Variant tree_;
    std::optional<TreeState> kept_;
};

}  // namespace spinney::python
