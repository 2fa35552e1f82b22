#pragma once
/// Solvers of a decision node's reduced problem: from care points to a hyperplane. They know nothing of the tree.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spinney/solve_linear.hpp"
#include "spinney/table/training_table.hpp"
#include "spinney/tao/care_points.hpp"

namespace spinney {

enum class SplitKind : std::uint8_t { oblique, axis };

struct OptimizerOptions {
    SplitKind split = SplitKind::oblique;
    LinearOptions solver;          ///< its alpha is the sparsity weight of the splits
    std::size_t max_features = 0;  ///< columns drawn for each split ([B] section 6.3, "local"); 0 for all
    std::size_t n_threads = 1;
    std::uint64_t seed = 0;
    std::uint64_t start_seed = 0;  ///< draws the random start alone
};

/// Which split is solved: with the seed this makes all its random numbers.
struct SplitTask {
    std::size_t node;
    std::uint64_t sweep;
    std::size_t n_threads;
};

/// Weights are those of raw features; penalties and the surrogate see standardised ones.
template <Design D>
class SplitSolver {
  public:
    /// All but the options is borrowed.
    SplitSolver(const TrainingTable& table, const Scaling& scaling, std::span<const double> sample_weights,
                const OptimizerOptions& options);

    [[nodiscard]] const OptimizerOptions& options() const { return options_; }
    /// Non-zero weights that a split may have; 0 for any number.
    [[nodiscard]] std::size_t most_weights() const { return options_.split == SplitKind::axis ? 1 : options_.solver.max_weights; }
    void limit_weights(std::size_t count) { options_.solver.max_weights = count; }
    /// Drops the weights of a split that it may not have.
    void keep_to_limit(std::span<float> w, double& bias) const;
    /// Columns that a split may use, ascending: the same in every sweep.
    [[nodiscard]] std::vector<std::uint32_t> columns_of(std::size_t node) const;

    /// A candidate, starting from the given split. If all care points agree, or there are none, it is a constant.
    void propose(const SplitTask& task, const CarePoints& care, std::span<float> w, double& bias) const;
    /// Cost of a candidate, or of sending all rows one way if that is no worse; then the candidate becomes that constant. The
    /// surrogate does not see it where a few heavy rows hide many light ones.
    [[nodiscard]] double prefer_constant(const CarePoints& care, std::span<float> w, double& bias) const;
    /// alpha |w|_1 for oblique splits; alpha if a feature is used for axis-aligned ones.
    [[nodiscard]] double penalty(std::span<const float> w) const;

  private:
    /// Rows that a solver reads, in whole or in some columns; care point i is row numbers[i].
    template <Design Any>
    struct View {
        const Any& rows;
        const Scaling& scaling;
        std::span<const float> norms;
        std::span<const std::uint32_t> numbers;
    };
    template <Design Any>
    void solve(const View<Any>& view, const SplitTask& task, const CarePoints& care, std::span<float> w, double& bias) const;
    template <Design Any>
    void solve_axis_split(const View<Any>& view, const CarePoints& care, std::span<float> w, double& bias) const;
    void solve_in_table(const SplitTask& task, const CarePoints& care, std::span<float> w, double& bias) const;
    [[nodiscard]] bool reads_one_column(std::span<const float> w) const;
    template <Design Any>
    void solve_surrogate(const View<Any>& view, const SplitTask& task, const CarePoints& care, std::span<float> w,
                         double& bias) const;
    void solve_in_columns(std::span<const std::uint32_t> columns, const SplitTask& task, const CarePoints& care,
                          std::span<float> w, double& bias) const;
    [[nodiscard]] double cost(const CarePoints& care, std::span<const float> w, double bias) const;
    [[nodiscard]] std::span<const float> norms() const {
        return norms_ ? std::span<const float>(*norms_) : std::span<const float>();
    }
    [[nodiscard]] bool draws_columns() const { return options_.max_features > 0 && options_.max_features < rows_.n_features; }

    const D& rows_;
    const Scaling& scaling_;
    std::shared_ptr<const std::vector<float>> norms_;  ///< none where no solver asks for them
    const CodedColumns* coded_;                        ///< of dense rows under axis-aligned splits; else none
    std::span<const double> sample_weights_;
    OptimizerOptions options_;
};

}  // namespace spinney
