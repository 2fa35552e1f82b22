#include <algorithm>
#include <cmath>

#include "spinney/leaf.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {
namespace {

/// Steps on the bound of the cross-entropy in one refit; the next sweep goes on from there.
constexpr int n_bound_steps = 8;

class ScoreLeaves : public Leaves {
  public:
    ScoreLeaves(const Targets& targets, std::size_t n_leaves, LeafPenalty penalty) : targets_(targets), penalty_(penalty) {
        n_leaves_ = n_leaves;
        n_outputs_ = targets.n_outputs;
        table_.values.resize(n_leaves * n_outputs_);
    }

    double penalty(std::size_t leaf) const override {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) sum += penalty_.of(table_.values[leaf * n_outputs_ + k]);
        return sum;
    }

  protected:
    [[nodiscard]] std::size_t class_of(std::size_t row) const { return static_cast<std::size_t>(targets_.classes[row]); }
    [[nodiscard]] const double* left_over(std::size_t row) const { return targets_.values.data() + row * n_outputs_; }
    [[nodiscard]] const double* scores(std::size_t leaf) const { return table_.values.data() + leaf * n_outputs_; }
    [[nodiscard]] double* scores(std::size_t leaf) { return table_.values.data() + leaf * n_outputs_; }

    Targets targets_;
    LeafPenalty penalty_;
};

/// A row that is beyond what is wanted on the right side loses nothing, and does not care where it goes.
class HingeLeaves final : public ScoreLeaves {
  public:
    using ScoreLeaves::ScoreLeaves;

    double loss(std::size_t row, std::size_t leaf) const override {
        const std::size_t own = class_of(row);
        const double* wanted = left_over(row);
        const double* given = scores(leaf);
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double above = std::max(given[k] - wanted[k], 0.0);
            sum += above * above;
        }
        const double distance = given[own] - wanted[own];
        return sum + (distance < 0.0 ? 1.0 : -1.0) * distance * distance;  // the own score was counted the wrong way
    }

    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        for (std::size_t k = 0; k < n_outputs_ && !rows.empty(); ++k) {
            Bracket bracket{0.0, 0.0, 1e-12};
            for (std::uint32_t row : rows) {
                bracket.low = std::min(bracket.low, left_over(row)[k]);
                bracket.high = std::max(bracket.high, left_over(row)[k]);
            }
            const auto derivatives_at = [&](double at) { return derivatives(rows, k, at); };
            scores(leaf)[k] = minimize_convex(derivatives_at, penalty_, bracket, scores(leaf)[k]);
        }
    }

  private:
    [[nodiscard]] Derivatives derivatives(std::span<const std::uint32_t> rows, std::size_t k, double at) const {
        const std::vector<double> sums = sums_by_block(rows, 2, [&](std::size_t i, std::span<double> part) {
            const double distance = at - left_over(rows[i])[k];
            if (class_of(rows[i]) == k ? distance >= 0.0 : distance <= 0.0) return;
            part[0] += 2.0 * targets_.weights[rows[i]] * distance;
            part[1] += 2.0 * targets_.weights[rows[i]];
        });
        return {sums[0], sums[1]};
    }
};

class SoftmaxLeaves final : public ScoreLeaves {
  public:
    using ScoreLeaves::ScoreLeaves;

    double loss(std::size_t row, std::size_t leaf) const override {
        const double* wanted = left_over(row);
        const double* given = scores(leaf);
        double most = given[0] - wanted[0];
        for (std::size_t k = 1; k < n_outputs_; ++k) most = std::max(most, given[k] - wanted[k]);
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) sum += std::exp(given[k] - wanted[k] - most);
        const std::size_t own = class_of(row);
        return std::log(sum) + most - (given[own] - wanted[own]);
    }

    /// The curvature of the cross-entropy of a row is at most 1/2 in each score (Böhning 1992): each step goes to
    /// the least value of that bound, and never up.
    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        if (rows.empty()) return;
        for (int step = 0; step < n_bound_steps; ++step) {
            const std::vector<double> slope = add_slopes(leaf, rows);
            const double total = slope[n_outputs_];
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                double& score = scores(leaf)[k];
                const double aim = 0.5 * total * score - slope[k];
                score = soft_threshold(aim, penalty_.l1) / (0.5 * total + 2.0 * penalty_.l2);
            }
        }
    }

  private:
    /// Slope of the loss in each score, and the weight of the rows.
    [[nodiscard]] std::vector<double> add_slopes(std::size_t leaf, std::span<const std::uint32_t> rows) const {
        std::vector<double> share(n_outputs_);
        return sums_by_block(rows, n_outputs_ + 1, [&](std::size_t i, std::span<double> part) {
            check_stop_at(i);
            const std::uint32_t row = rows[i];
            const double* wanted = left_over(row);
            for (std::size_t k = 0; k < n_outputs_; ++k) share[k] = scores(leaf)[k] - wanted[k];
            const double most = std::ranges::max(share);
            double sum = 0.0;
            for (double& s : share) sum += s = std::exp(s - most);
            const double weight = targets_.weights[row];
            for (std::size_t k = 0; k < n_outputs_; ++k) part[k] += weight * (share[k] / sum);
            part[class_of(row)] -= weight;
            part[n_outputs_] += weight;
        });
    }
};

}  // namespace

std::unique_ptr<Leaves> score_leaves(const Targets& targets, std::size_t n_leaves, ScoreLoss loss, LeafPenalty penalty) {
    if (loss == ScoreLoss::squared_hinge) return std::make_unique<HingeLeaves>(targets, n_leaves, penalty);
    return std::make_unique<SoftmaxLeaves>(targets, n_leaves, penalty);
}

}  // namespace spinney
