#pragma once
/// The two leaves of a decision stump under optimisation: [C] Norouzi, Collins, Fleet and Kohli, "CO2 Forest", section 4.

#include <array>
#include <cstddef>
#include <vector>

#include "spinney/grow/impurity.hpp"

namespace spinney {

/// The predictors θ of the two leaves, with their losses [C, eqs. (3), (4)]. Side 0 is left. Losses of numbers are measured in
/// the variance of the node, or deep nodes would hardly have any.
class StumpLeaves {
  public:
    StumpLeaves(const NodeTargets& targets, const Tally& sides);

    /// Fractions or means of the rows on the two sides [C, Alg. 1, line 2]: the θ of least loss for given sides.
    void fit(const Tally& sides);

    /// Loss of entry i in the leaf of a side.
    [[nodiscard]] double loss(std::size_t side, std::size_t i) const {
        if (targets_.has_classes()) return losses_[side][targets_.label(i)];
        double sum = 0.0;  // [C, eq. (4)]
        const auto values = targets_.values(i);
        for (std::size_t k = 0; k < values.size(); ++k) sum += squared(theta_[side][k] - values[k] * inverse_unit_);
        return sum;
    }

    /// Adds the gradient of the loss of one row by θ; that of the log of the sum in eq. (3) is left to `step`.
    void add_gradient(std::size_t side, std::size_t i, double weight) {
        if (targets_.has_classes()) {
            gradient_[side][targets_.label(i)] -= weight;  // of -θ_y in eq. (3)
            weights_[side] += weight;
            return;
        }
        const auto values = targets_.values(i);
        for (std::size_t k = 0; k < values.size(); ++k)
            gradient_[side][k] += 2.0 * weight * (theta_[side][k] - values[k] * inverse_unit_);  // of eq. (4)
    }

    /// Step of θ against the mean gradient of a batch [C, Alg. 1, lines 10 and 13], with momentum [C, section 4.2].
    void step(double learning_rate, double momentum, double total_weight);

  private:
    static double squared(double x) { return x * x; }
    void update_losses();

    const NodeTargets& targets_;
    double inverse_unit_;
    std::array<std::vector<double>, 2> theta_, velocity_, gradient_, losses_;
    double weights_[2] = {0.0, 0.0};  ///< of the rows of a batch in each leaf
};

}  // namespace spinney
