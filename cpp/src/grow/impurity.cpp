#include "spinney/grow/impurity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "grow/x_log_x.hpp"
#include "sort_key.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t n_bytes = 256;
constexpr double rounding_share = 1e-12;

double x_log_x(double x) { return spinney::x_log_x(x, known_x_log_x().data()); }

double squared_length(std::span<const double> v) {
    double sum = 0.0;
    for (double x : v) sum += x * x;
    return sum;
}

/// -0 is the same score as 0: between the two lies no cut.
float without_sign_of_zero(float score) { return score == 0.0F ? 0.0F : score; }

}  // namespace

std::span<const double, n_known_logs> known_x_log_x() {
    static const auto known = [] {
        std::vector<double> values(n_known_logs);
        for (std::size_t i = 1; i < n_known_logs; ++i) values[i] = static_cast<double>(i) * std::log(static_cast<double>(i));
        return values;
    }();
    return std::span<const double, n_known_logs>(known);
}

Tally::Tally(std::span<const double> totals, double weight, bool has_classes, Impurity impurity)
    : totals_(totals), weight_(weight), has_classes_(has_classes), impurity_(impurity), left_(totals.size()),
      right_(totals.size()) {
    reset();
}

void Tally::reset() {
    std::ranges::fill(left_, 0.0);
    std::ranges::copy(totals_, right_.begin());
    left_weight_ = 0.0;
    right_weight_ = weight_;
    left_terms_ = 0.0;
    right_terms_ = 0.0;
    if (has_classes_)
        for (double weight : right_) right_terms_ += term(weight);
}

double Tally::term(double weight) const { return impurity_ == Impurity::entropy ? x_log_x(weight) : weight * weight; }

void Tally::move_class(std::size_t label, double weight) {
    left_terms_ -= term(left_[label]);
    right_terms_ -= term(right_[label]);
    left_[label] += weight;
    right_[label] -= weight;
    left_terms_ += term(left_[label]);
    right_terms_ += term(right_[label]);
    left_weight_ += weight;
    right_weight_ -= weight;
}

void Tally::move_values(std::span<const double> values, double weight) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        left_[k] += weight * values[k];
        right_[k] -= weight * values[k];
    }
    left_weight_ += weight;
    right_weight_ -= weight;
}

/// The least empirical loss of a stump with these sides (co2-forest eq. (2)): with the log loss, eq. (3), the entropy left in
/// them, so that the least cost is the largest information gain (section 4); with the squared loss, eq. (4), their scatter. Gini
/// impurity, of CART, is not in that paper.
double Tally::cost() const {
    const auto share = [](double of, double weight) { return weight > 0.0 ? of / weight : 0.0; };
    // Numbers: their squares sum up to the same on every cut, and what is left over is this.
    if (!has_classes_) return -share(squared_length(left_), left_weight_) - share(squared_length(right_), right_weight_);
    if (impurity_ == Impurity::gini)
        return left_weight_ - share(left_terms_, left_weight_) + right_weight_ - share(right_terms_, right_weight_);
    return x_log_x(left_weight_) - left_terms_ + x_log_x(right_weight_) - right_terms_;
}

NodeTargets::NodeTargets(const Targets& targets, std::span<const std::uint32_t> reach, Impurity impurity, double least_weight)
    : impurity_(impurity), least_weight_(least_weight), n_values_(targets.classes.empty() ? targets.n_outputs : 0),
      weights_(reach.size()), totals_(targets.n_outputs), means_(targets.n_outputs) {
    for (std::size_t i = 0; i < reach.size(); ++i) {
        weights_[i] = targets.weights[reach[i]];
        weight_ += weights_[i];
        has_whole_weights_ = has_whole_weights_ && weights_[i] == std::floor(weights_[i]);
    }
    has_whole_weights_ = has_whole_weights_ && weight_ < static_cast<double>(n_known_logs);
    if (has_classes()) {
        labels_.resize(reach.size());
        for (std::size_t i = 0; i < reach.size(); ++i) {
            labels_[i] = static_cast<std::uint32_t>(targets.classes[reach[i]]);
            totals_[labels_[i]] += weights_[i];
            is_pure_ = is_pure_ && labels_[i] == labels_[0];
        }
        for (std::size_t k = 0; k < means_.size(); ++k) means_[k] = totals_[k] / weight_;
        rounding_ = rounding_share * (std::fabs(x_log_x(weight_)) + weight_);  // x log x is below 0 for small weights
        return;
    }
    values_.resize(reach.size() * n_values_);
    check_stop_after(reach.size());
    for (std::size_t i = 0; i < reach.size(); ++i)
        for (std::size_t k = 0; k < n_values_; ++k) {
            values_[i * n_values_ + k] = targets.values[reach[i] * n_values_ + k];
            means_[k] += weights_[i] * values_[i * n_values_ + k];
            is_pure_ = is_pure_ && values_[i * n_values_ + k] == values_[k];
        }
    for (std::size_t k = 0; k < n_values_; ++k) means_[k] = is_pure_ ? values_[k] : means_[k] / weight_;
    double squares = 0.0;
    for (std::size_t i = 0; i < reach.size(); ++i)
        for (std::size_t k = 0; k < n_values_; ++k) {
            double& value = values_[i * n_values_ + k];
            value -= means_[k];
            squares += weights_[i] * value * value;
        }
    rounding_ = rounding_share * squares;
}

std::vector<std::uint32_t> order_of(std::span<const float> scores) {
    std::vector<std::uint64_t> keys(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) keys[i] = sort_key(without_sign_of_zero(scores[i]), i);
    std::ranges::sort(keys);
    check_stop_after(keys.size());
    std::vector<std::uint32_t> order(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) order[i] = place_of(keys[i]);
    return order;
}

Cut NodeTargets::best_cut(std::span<const float> scores) const {
    Cut best;
    best.cost = std::numeric_limits<double>::infinity();
    const auto order = order_of(scores);
    Tally sides = tally();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        check_stop_at(i);
        move(sides, order[i]);
        const float a = scores[order[i]];
        const float b = scores[order[i + 1]];
        if (!(a < b) || !allows(sides.left_weight(), sides.right_weight())) continue;
        const double cost = sides.cost();
        if (cost < best.cost - rounding_) best = {between(a, b), cost, true};
    }
    return best;
}

Cut NodeTargets::best_cut(std::span<const std::uint8_t> scores) const {
    const std::size_t width = n_outputs();
    std::vector<double> sums(n_bytes * width);
    std::array<double, n_bytes> weights{};
    std::array<bool, n_bytes> is_present{};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        check_stop_at(i);
        const std::size_t value = scores[i];
        is_present[value] = true;
        weights[value] += weights_[i];
        if (has_classes())
            sums[value * width + labels_[i]] += weights_[i];
        else
            for (std::size_t k = 0; k < width; ++k) sums[value * width + k] += weights_[i] * values_[i * width + k];
    }
    Cut best;
    best.cost = std::numeric_limits<double>::infinity();
    Tally sides = tally();
    std::size_t last = n_bytes;
    for (std::size_t value = 0; value < n_bytes; ++value) {
        if (!is_present[value]) continue;
        if (last < n_bytes && allows(sides.left_weight(), sides.right_weight())) {
            const double cost = sides.cost();
            const auto threshold = between(static_cast<float>(last), static_cast<float>(value));
            if (cost < best.cost - rounding_) best = {threshold, cost, true};
        }
        last = value;
        const std::span<const double> sum(sums.data() + value * width, width);
        if (has_classes()) {
            for (std::size_t k = 0; k < width; ++k)
                if (sum[k] != 0.0) sides.move_class(k, sum[k]);
        } else {
            std::vector<double> mean(width);
            for (std::size_t k = 0; k < width; ++k) mean[k] = sum[k] / weights[value];
            sides.move_values(mean, weights[value]);
        }
    }
    return best;
}

}  // namespace spinney
