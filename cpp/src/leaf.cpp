#include "spinney/leaf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

    /// Class fractions; their largest is the weighted majority, the exact minimiser of the 0/1 loss.
    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random) override {
        if (rows.empty()) return;
        const std::span<double> fractions(table_.values.data() + leaf * n_outputs_, n_outputs_);
        std::ranges::fill(fractions, 0.0);
        double total = 0.0;
        for (std::uint32_t n : rows) {
            fractions[static_cast<std::size_t>(targets_.classes[n])] += targets_.weights[n];
            total += targets_.weights[n];
        }
        for (double& fraction : fractions) fraction /= total;
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
    ConstantValueLeaves(const Targets& targets, std::size_t n_leaves, TargetLoss loss, double delta)
        : targets_(targets), kind_(loss), delta_(delta) {
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
        std::vector<double> values(rows.size()), weights(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = targets_.weights[rows[i]];
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = targets_.values[rows[i] * n_outputs_ + k];
            table_.values[leaf * n_outputs_ + k] = best_constant(values, weights, kind_, delta_);
        }
    }

    double penalty(std::size_t) const override { return 0.0; }

private:
    Targets targets_;
    TargetLoss kind_;
    double delta_;
};

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
    double sum = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += weights[i] * values[i];
        total += weights[i];
    }
    return sum / total;
}

double weighted_median(std::span<const double> values, std::span<const double> weights) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    const double half = 0.5 * std::accumulate(weights.begin(), weights.end(), 0.0);
    double below = 0.0;
    for (std::size_t i : order) {
        below += weights[i];
        if (below >= half) return values[i];
    }
    return values[order.back()];
}

/// Newton steps on the convex, piecewise quadratic sum, kept inside a shrinking bracket.
double huber_location(std::span<const double> values, std::span<const double> weights, double delta) {
    auto [low_it, high_it] = std::ranges::minmax_element(values);
    double low = *low_it;
    double high = *high_it;
    double at = weighted_median(values, weights);
    for (int step = 0; step < 100 && low < high; ++step) {
        double slope = 0.0;
        double curvature = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double residual = values[i] - at;
            slope -= weights[i] * std::clamp(residual, -delta, delta);
            if (std::fabs(residual) <= delta) curvature += weights[i];
        }
        (slope > 0.0 ? high : low) = at;
        const double newton = curvature > 0.0 ? at - slope / curvature : 0.5 * (low + high);
        const double next = newton >= low && newton <= high ? newton : 0.5 * (low + high);
        if (std::fabs(next - at) <= 1e-14 * (std::fabs(at) + delta)) return next;
        at = next;
    }
    return at;
}

}  // namespace

double best_constant(std::span<const double> values, std::span<const double> weights, TargetLoss kind, double delta) {
    if (kind == TargetLoss::squared) return weighted_mean(values, weights);
    if (kind == TargetLoss::absolute) return weighted_median(values, weights);
    return huber_location(values, weights, delta);
}

std::unique_ptr<Leaves> constant_class_leaves(const Targets& targets, std::size_t n_leaves, ClassLoss loss) {
    return std::make_unique<ConstantClassLeaves>(targets, n_leaves, loss);
}

std::unique_ptr<Leaves> constant_value_leaves(const Targets& targets, std::size_t n_leaves, TargetLoss loss,
                                              double delta) {
    return std::make_unique<ConstantValueLeaves>(targets, n_leaves, loss, delta);
}

}  // namespace spinney
