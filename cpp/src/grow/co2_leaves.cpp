#include "co2_leaves.hpp"

#include <algorithm>
#include <cmath>

namespace spinney {
namespace {

/// Share of the mean row's weight that each class has in a leaf before any row is counted: the logarithm of nothing would be
/// infinite.
constexpr double prior_share = 0.1;

/// Deviation of the numbers of a node; 1 for classes.
double deviation_of(const NodeTargets& targets) {
    if (targets.has_classes()) return 1.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < targets.size(); ++i)
        for (double value : targets.values(i)) squares += targets.weight(i) * value * value;
    const double deviation = std::sqrt(squares / (targets.total_weight() * static_cast<double>(targets.n_outputs())));
    return deviation > 0.0 ? deviation : 1.0;
}

}  // namespace

StumpLeaves::StumpLeaves(const NodeTargets& targets, const Tally& sides)
    : targets_(targets), inverse_unit_(1.0 / deviation_of(targets)) {
    const std::size_t width = targets.n_outputs();
    for (std::size_t side = 0; side < 2; ++side) {
        theta_[side].resize(width);
        velocity_[side].resize(width);
        gradient_[side].resize(width);
        losses_[side].resize(width);
    }
    fit(sides);
}

void StumpLeaves::fit(const Tally& sides) {
    const double prior = prior_share * targets_.total_weight() / static_cast<double>(targets_.size());
    for (std::size_t side = 0; side < 2; ++side) {
        const auto sums = side == 0 ? sides.left() : sides.right();
        const double weight = side == 0 ? sides.left_weight() : sides.right_weight();
        for (std::size_t k = 0; k < sums.size(); ++k) {
            if (targets_.has_classes())
                // The class log-probabilities that minimise eq. (2) of [C], as is shown there.
                theta_[side][k] = std::log(sums[k] + prior) - std::log(weight + prior * static_cast<double>(sums.size()));
            else
                theta_[side][k] = weight > 0.0 ? sums[k] / weight * inverse_unit_ : 0.0;
        }
    }
    update_losses();
}

void StumpLeaves::step(double learning_rate, double momentum, double total_weight) {
    for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t k = 0; k < theta_[side].size(); ++k) {
            double slope = gradient_[side][k];
            if (targets_.has_classes()) slope += weights_[side] * std::exp(-losses_[side][k]);  // p_k of [C, eq. (1)]
            velocity_[side][k] = momentum * velocity_[side][k] - slope / total_weight;
            theta_[side][k] += learning_rate * velocity_[side][k];
            gradient_[side][k] = 0.0;
        }
        weights_[side] = 0.0;
    }
    update_losses();
}

void StumpLeaves::update_losses() {
    if (!targets_.has_classes()) return;
    for (std::size_t side = 0; side < 2; ++side) {
        const double most = std::ranges::max(theta_[side]);
        double sum = 0.0;
        for (double t : theta_[side]) sum += std::exp(t - most);
        const double log_sum = most + std::log(sum);
        for (std::size_t k = 0; k < theta_[side].size(); ++k) losses_[side][k] = log_sum - theta_[side][k];  // [C, eq. (3)]
    }
}

}  // namespace spinney
