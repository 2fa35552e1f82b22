#pragma once
/// How mixed the targets of a node are, and where a line of scores is best cut in two.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/leaf.hpp"

namespace spinney {

/// Impurity of classes; that of numbers is always the squared error.
enum class Impurity : std::uint8_t { entropy, gini };

/// A threshold on scores: those >= threshold go right. The cost is the weighted impurity of both sides.
struct Cut {
    float threshold = 0.0F;
    double cost = 0.0;
    bool is_found = false;
};

/// Weights of the classes, or sums of the numbers, on both sides of a split, with the cost of the two sides.
/// Entries are moved from right to left one by one, or back with a negative weight.
class Tally {
  public:
    Tally(std::span<const double> totals, double weight, bool has_classes, Impurity impurity);
    /// Everything to the right again.
    void reset();
    void move_class(std::size_t label, double weight);
    void move_values(std::span<const double> values, double weight);
    [[nodiscard]] double cost() const;
    [[nodiscard]] double left_weight() const { return left_weight_; }
    [[nodiscard]] double right_weight() const { return right_weight_; }
    [[nodiscard]] std::span<const double> left() const { return left_; }
    [[nodiscard]] std::span<const double> right() const { return right_; }

  private:
    [[nodiscard]] double term(double weight) const;
    std::span<const double> totals_;
    double weight_;
    bool has_classes_;
    Impurity impurity_;
    std::vector<double> left_, right_;
    double left_weight_ = 0.0, right_weight_ = 0.0, left_terms_ = 0.0, right_terms_ = 0.0;
};

/// The targets of the rows of one node, in their order.
class NodeTargets {
  public:
    /// Cuts leave at least `least_weight` on each side; 0 for any.
    NodeTargets(const Targets& targets, std::span<const std::uint32_t> reach, Impurity impurity, double least_weight = 0.0);

    [[nodiscard]] std::size_t size() const { return weights_.size(); }
    [[nodiscard]] bool has_classes() const { return n_values_ == 0; }
    [[nodiscard]] std::size_t n_outputs() const { return totals_.size(); }
    [[nodiscard]] std::size_t label(std::size_t i) const { return labels_[i]; }
    /// Numbers of an entry less the mean of the node.
    [[nodiscard]] std::span<const double> values(std::size_t i) const { return {values_.data() + i * n_values_, n_values_}; }
    [[nodiscard]] double weight(std::size_t i) const { return weights_[i]; }
    [[nodiscard]] std::span<const std::uint32_t> labels() const { return labels_; }
    [[nodiscard]] std::span<const double> weights() const { return weights_; }
    [[nodiscard]] double total_weight() const { return weight_; }
    /// Whether all weights are small whole numbers, and so their sums.
    [[nodiscard]] bool has_whole_weights() const { return has_whole_weights_; }
    /// Weights of the classes; zeros for numbers, which are centred.
    [[nodiscard]] std::span<const double> totals() const { return totals_; }
    [[nodiscard]] std::span<const double> means() const { return means_; }
    /// Whether all targets are alike.
    [[nodiscard]] bool is_pure() const { return is_pure_; }
    [[nodiscard]] Tally tally() const { return {totals_, weight_, has_classes(), impurity_}; }
    /// Moves entry i, or takes it back (factor -1).
    void move(Tally& tally, std::size_t i, double factor = 1.0) const {
        if (has_classes())
            tally.move_class(labels_[i], factor * weights_[i]);
        else
            tally.move_values(values(i), factor * weights_[i]);
    }
    /// Costs that differ by less are taken for equal, so that a row of weight k does as k copies of it.
    [[nodiscard]] double rounding() const { return rounding_; }
    /// The same for sums of weights.
    [[nodiscard]] double weight_rounding() const { return 1e-12 * weight_; }

    [[nodiscard]] Impurity impurity() const { return impurity_; }
    [[nodiscard]] bool has_least_weight() const { return least_weight_ > 0.0; }
    /// Whether sides of these weights are heavy enough.
    [[nodiscard]] bool allows(double left_weight, double right_weight) const {
        return !(least_weight_ > 0.0) || std::min(left_weight, right_weight) >= least_weight_ - weight_rounding();
    }

    /// The cut of least cost, the lowest threshold among equals; none if all scores are equal, or no cut is allowed.
    [[nodiscard]] Cut best_cut(std::span<const float> scores) const;
    /// The same for scores that are whole numbers from 0 to 255.
    [[nodiscard]] Cut best_cut(std::span<const std::uint8_t> scores) const;

  private:
    Impurity impurity_;
    double least_weight_;
    std::size_t n_values_;
    std::vector<std::uint32_t> labels_;
    std::vector<double> values_, weights_, totals_, means_;
    double weight_ = 0.0;
    double rounding_ = 0.0;
    bool is_pure_ = true;
    bool has_whole_weights_ = true;
};

/// Threshold between two neighbouring scores a < b: above a, at most b.
[[nodiscard]] inline float between(float a, float b) {
    const float middle = 0.5F * a + 0.5F * b;
    return middle > a ? middle : b;
}

/// Numbers of entries, ordered by their scores and then by their numbers.
[[nodiscard]] std::vector<std::uint32_t> order_of(std::span<const float> scores);

}  // namespace spinney
