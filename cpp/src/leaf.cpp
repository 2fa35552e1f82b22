#include "spinney/leaf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {

LeafTable Leaves::row(std::size_t leaf) const {
    const auto part = [&](const auto& all) {
        const std::size_t size = all.size() / n_leaves_;
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(leaf * size);
        return std::vector(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    return {part(table_.values), part(table_.weights)};
}

void Leaves::set_row(std::size_t leaf, const LeafTable& row) {
    std::ranges::copy(row.values, table_.values.begin() + static_cast<std::ptrdiff_t>(leaf * row.values.size()));
    std::ranges::copy(row.weights, table_.weights.begin() + static_cast<std::ptrdiff_t>(leaf * row.weights.size()));
    refresh_leaf(leaf);
}

namespace {

/// argmin_v of sum_n w_n (y_n - v)^2 + l1 |v| + l2 v^2, given the sums of w y and of w: "an average or soft thresholding
/// operation" (fao section 3).
double mean_of(double sum, double weight, LeafPenalty penalty) {
    return soft_threshold(sum, 0.5 * penalty.l1) / (weight + penalty.l2);
}

class ConstantClassLeaves final : public Leaves {
  public:
    ConstantClassLeaves(const Targets& targets, std::size_t n_leaves, ClassLoss loss)
        : targets_(targets), kind_(loss), losses_(n_leaves * targets.n_outputs) {
        n_leaves_ = n_leaves;
        n_outputs_ = targets.n_outputs;
        table_.values.assign(losses_.size(), 1.0 / static_cast<double>(n_outputs_));
        refresh();
    }

    double loss(std::size_t row, std::size_t leaf) const override {
        return losses_[leaf * n_outputs_ + static_cast<std::size_t>(targets_.classes[row])];
    }

    /// Class fractions; their largest is the weighted majority, the exact minimiser of the 0/1 loss (boosted-tao section IV b).
    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        if (rows.empty()) return;
        const std::vector<double> sums = sums_by_block(rows, n_outputs_ + 1, [&](std::size_t i, std::span<double> part) {
            part[static_cast<std::size_t>(targets_.classes[rows[i]])] += targets_.weights[rows[i]];
            part[n_outputs_] += targets_.weights[rows[i]];
        });
        for (std::size_t k = 0; k < n_outputs_; ++k) table_.values[leaf * n_outputs_ + k] = sums[k] / sums[n_outputs_];
        refresh_leaf(leaf);
    }

    bool has_labels() const override { return true; }

    void set_label(std::size_t leaf, std::size_t label) override {
        const std::span<double> fractions(table_.values.data() + leaf * n_outputs_, n_outputs_);
        std::ranges::fill(fractions, 0.0);
        fractions[label] = 1.0;
        refresh_leaf(leaf);
    }

    double penalty(std::size_t) const override { return 0.0; }

  private:
    void refresh_leaf(std::size_t leaf) override {
        const std::span<const double> fractions(table_.values.data() + leaf * n_outputs_, n_outputs_);
        const auto label = static_cast<std::size_t>(std::ranges::max_element(fractions) - fractions.begin());
        for (std::size_t k = 0; k < n_outputs_; ++k)
            losses_[leaf * n_outputs_ + k] =
                kind_ == ClassLoss::zero_one ? (k == label ? 0.0 : 1.0) : -std::log(std::max(fractions[k], probability_floor));
    }

    Targets targets_;
    ClassLoss kind_;
    std::vector<double> losses_;  ///< n_leaves x n_classes
};

class ConstantValueLeaves final : public Leaves {
  public:
    ConstantValueLeaves(const Targets& targets, std::size_t n_leaves, TargetLoss loss, double delta, LeafPenalty penalty)
        : targets_(targets), kind_(loss), delta_(delta), penalty_(penalty) {
        n_leaves_ = n_leaves;
        n_outputs_ = targets.n_outputs;
        table_.values.resize(n_leaves * n_outputs_);
        std::vector<std::uint32_t> all(targets.weights.size());
        std::iota(all.begin(), all.end(), 0U);
        fit(0, all, Random(0));
        for (std::size_t i = n_outputs_; i < table_.values.size(); ++i) table_.values[i] = table_.values[i - n_outputs_];
    }

    double loss(std::size_t row, std::size_t leaf) const override {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k)
            sum += target_loss(kind_, delta_, targets_.values[row * n_outputs_ + k] - table_.values[leaf * n_outputs_ + k]);
        return sum;
    }

    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        if (rows.empty()) return;
        if (kind_ == TargetLoss::squared)
            fit_means(leaf, rows);
        else
            fit_one_by_one(leaf, rows);
    }

    void clear(std::size_t leaf) override {
        if (penalty_.of(1.0) > 0.0)
            std::fill_n(table_.values.begin() + static_cast<std::ptrdiff_t>(leaf * n_outputs_), n_outputs_, 0.0);
    }

    double penalty(std::size_t leaf) const override {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) sum += penalty_.of(table_.values[leaf * n_outputs_ + k]);
        return sum;
    }

  private:
    void fit_means(std::size_t leaf, std::span<const std::uint32_t> rows) {
        const std::vector<double> sums = sums_by_block(rows, n_outputs_ + 1, [&](std::size_t i, std::span<double> part) {
            const double weight = targets_.weights[rows[i]];
            for (std::size_t k = 0; k < n_outputs_; ++k) part[k] += weight * targets_.values[rows[i] * n_outputs_ + k];
            part[n_outputs_] += weight;
        });
        for (std::size_t k = 0; k < n_outputs_; ++k)
            table_.values[leaf * n_outputs_ + k] = mean_of(sums[k], sums[n_outputs_], penalty_);
    }

    void fit_one_by_one(std::size_t leaf, std::span<const std::uint32_t> rows) {
        std::vector<double> values(rows.size()), weights(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = targets_.weights[rows[i]];
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            check_stop_after(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = targets_.values[rows[i] * n_outputs_ + k];
            table_.values[leaf * n_outputs_ + k] = best_constant(values, weights, kind_, delta_, penalty_);
        }
    }

    Targets targets_;
    TargetLoss kind_;
    double delta_;
    LeafPenalty penalty_;
};

double weighted_mean(std::span<const double> values, std::span<const double> weights, LeafPenalty penalty) {
    double sum = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += weights[i] * values[i];
        total += weights[i];
    }
    return mean_of(sum, total, penalty);
}

/// The slope of the sum jumps at each value. The penalty |v| is one more value, at zero.
double weighted_median(std::span<const double> values, std::span<const double> weights, LeafPenalty penalty) {
    struct Jump {
        double at, weight;
    };
    std::vector<Jump> jumps;
    jumps.reserve(values.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) jumps.push_back({values[i], weights[i]});
    if (penalty.l1 > 0.0) jumps.push_back({0.0, penalty.l1});
    std::ranges::stable_sort(jumps, {}, &Jump::at);
    double half = 0.0;
    for (const Jump& jump : jumps) half += 0.5 * jump.weight;
    double below = 0.0;
    for (const Jump& jump : jumps) {
        // Between two values the slope is 2 (below - half) + 2 l2 v: is it zero before this one?
        if (penalty.l2 > 0.0 && below - half + penalty.l2 * jump.at >= 0.0) return (half - below) / penalty.l2;
        below += jump.weight;
        if (below - half + penalty.l2 * jump.at >= 0.0) return jump.at;
    }
    return penalty.l2 > 0.0 ? (half - below) / penalty.l2 : jumps.back().at;
}

double huber_location(std::span<const double> values, std::span<const double> weights, double delta, LeafPenalty penalty) {
    const auto [low, high] = std::ranges::minmax(values);
    const auto derivatives_at = [&](double at) {
        check_stop_after(values.size());
        Derivatives sum;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double residual = values[i] - at;
            sum.slope -= weights[i] * std::clamp(residual, -delta, delta);
            if (std::fabs(residual) <= delta) sum.curvature += weights[i];
        }
        return sum;
    };
    const Bracket bracket{penalty.of(1.0) > 0.0 ? std::min(low, 0.0) : low, penalty.of(1.0) > 0.0 ? std::max(high, 0.0) : high,
                          1e-14 * delta};
    return minimize_convex(derivatives_at, penalty, bracket, weighted_median(values, weights, {}));
}

}  // namespace

double best_constant(std::span<const double> values, std::span<const double> weights, TargetLoss kind, double delta,
                     LeafPenalty penalty) {
    if (kind == TargetLoss::squared) return weighted_mean(values, weights, penalty);
    if (kind == TargetLoss::absolute) return weighted_median(values, weights, penalty);
    return huber_location(values, weights, delta, penalty);
}

std::unique_ptr<Leaves> constant_class_leaves(const Targets& targets, std::size_t n_leaves, ClassLoss loss) {
    return std::make_unique<ConstantClassLeaves>(targets, n_leaves, loss);
}

std::unique_ptr<Leaves> constant_value_leaves(const Targets& targets, std::size_t n_leaves, TargetLoss loss, double delta,
                                              LeafPenalty penalty) {
    return std::make_unique<ConstantValueLeaves>(targets, n_leaves, loss, delta, penalty);
}

}  // namespace spinney
