#pragma once
/// Both sides of a cut that moves from bin to bin, its cost, and how low cuts within a bin can go at most.
///
/// A bin is a row of sums over its entries; what lies in it depends on the measure. `step` moves the cut over a bin and returns a
/// lower bound on the cost of all cuts within it, whatever the order of its entries. Costs are those of Tally.
///
/// Below, L and R are the sums of a side without the bin, m those of the bin, w their weights, and A the entries of the bin that
/// a cut sends left.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "grow/x_log_x.hpp"
#include "spinney/grow/impurity.hpp"

namespace spinney {

/// A number a class: an array where the number of classes is known when the library is compiled.
template <std::size_t n_fixed>
using PerClass = std::conditional_t<n_fixed == 0, std::vector<double>, std::array<double, n_fixed>>;

/// Entries of a node whose classes are counted anew, without those that none of them has.
struct ClassTargets {
    std::span<const std::uint32_t> labels;
    std::span<const double> weights;
    std::span<const double> totals;  ///< weights of the classes
    double weight;                   ///< of all
};

/// What the sides of all measures of classes have in common. A bin has the weight of each class.
template <std::size_t n_fixed>
class ClassSides {
  public:
    static constexpr std::size_t no_class = std::numeric_limits<std::size_t>::max();

    explicit ClassSides(const ClassTargets& targets) : targets_(targets), weight_(targets.weight) {
        if constexpr (n_fixed == 0) left_.resize(targets.totals.size());
    }

    [[nodiscard]] std::size_t n_classes() const { return n_fixed == 0 ? left_.size() : n_fixed; }
    [[nodiscard]] std::size_t n_sums() const { return n_classes(); }
    /// What adds entries to bins; by itself, so that no write to a bin could change it.
    struct Adder {
        const std::uint32_t* labels;
        const double* weights;
        void add(double* bin, std::size_t i) const { bin[labels[i]] += weights[i]; }
    };
    [[nodiscard]] Adder adder() const { return {targets_.labels.data(), targets_.weights.data()}; }
    void save(double* bin) const { std::ranges::copy(left_, bin); }

    [[nodiscard]] double weight_of(const double* bin) const {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_classes(); ++k) sum += bin[k];
        return sum;
    }
    /// The class of all entries of a bin, or no_class. The cost is strictly concave in the entries of one class that are left,
    /// unless the node has no other: no cut among them is as good as the better one of those around them.
    [[nodiscard]] std::size_t only_class(const double* bin) const {
        std::size_t found = no_class;
        for (std::size_t k = 0; k < n_classes(); ++k) {
            if (bin[k] == 0.0) continue;
            if (found != no_class) return no_class;
            found = k;
        }
        return found;
    }
    [[nodiscard]] bool may_have_cuts(const double* bin) const { return only_class(bin) == no_class; }
    /// Share of the most frequent class of the node: levels in this order have the best set of two classes among their first
    /// ones.
    [[nodiscard]] double rank_of(const double* bin) const {
        const auto totals = targets_.totals;
        const auto most = static_cast<std::size_t>(std::ranges::max_element(totals) - totals.begin());
        return bin[most] / weight_of(bin);
    }

    [[nodiscard]] double left_weight() const { return left_weight_; }
    [[nodiscard]] double right_weight() const { return weight_ - left_weight_; }

  protected:
    [[nodiscard]] double total(std::size_t k) const { return targets_.totals[k]; }

    ClassTargets targets_;
    double weight_;
    double left_weight_ = 0.0;
    PerClass<n_fixed> left_{};
};

/// Entropy: g(w) - sum_k S_k(L_k) with g(w) = x log x of the weights of both sides, S_k that of the weights of class k on them.
template <bool is_whole, std::size_t n_fixed>
class EntropySides : public ClassSides<n_fixed> {
    using Base = ClassSides<n_fixed>;
    using Base::left_, Base::left_weight_, Base::weight_, Base::total;

  public:
    explicit EntropySides(const ClassTargets& targets) : Base(targets) {
        if constexpr (n_fixed == 0) terms_.resize(this->n_classes());
    }

    /// The sums of a bin are all that is left of the cut; nothing for none.
    void start(const double* bin) {
        left_weight_ = 0.0;
        sum_ = 0.0;
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            left_[k] = bin == nullptr ? 0.0 : bin[k];
            left_weight_ += left_[k];
            terms_[k] = term(k);
            sum_ += terms_[k];
        }
        of_weights_ = both(left_weight_);
    }
    void move_class(std::size_t k, double weight) {
        left_[k] += weight;
        left_weight_ += weight;
        sum_ -= terms_[k];
        terms_[k] = term(k);
        sum_ += terms_[k];
        of_weights_ = both(left_weight_);
    }
    void move_entry(std::size_t i) { move_class(this->targets_.labels[i], this->targets_.weights[i]); }
    void move(const double* bin, double factor = 1.0) {
        for (std::size_t k = 0; k < this->n_classes(); ++k)
            if (bin[k] != 0.0) move_class(k, factor * bin[k]);
    }

    /// g is convex: on w .. w + m it lies above its chord, of slope s, less a gap. Each S_k is convex, so that s p_k - S_k(p_k)
    /// is least where all or none of class k is left. Together: cost before - gap + sum_k min(0, s m_k - (S_k after - S_k
    /// before)). The chord of x log x on [a, a + m] lies above it by at most m^2 / 8 a, and by m / e, which it does at a = 0.
    double step(const double* bin) {
        const double m = this->weight_of(bin);
        const double before = of_weights_;
        double bound = cost();
        bound -= gap(left_weight_, m) + gap(weight_ - left_weight_ - m, m);
        left_weight_ += m;
        of_weights_ = both(left_weight_);
        const double slope = (of_weights_ - before) / m;
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            if (bin[k] == 0.0) continue;
            left_[k] += bin[k];
            const double after = term(k);
            bound += std::min(0.0, slope * bin[k] - (after - terms_[k]));
            sum_ += after - terms_[k];
            terms_[k] = after;
        }
        return bound;
    }
    [[nodiscard]] double cost() const { return of_weights_ - sum_; }

  private:
    [[nodiscard]] double term(std::size_t k) const { return x_log_x_(left_[k]) + x_log_x_(total(k) - left_[k]); }
    [[nodiscard]] double both(double left_weight) const { return x_log_x_(left_weight) + x_log_x_(weight_ - left_weight); }
    [[nodiscard]] static double gap(double a, double m) {
        return m * (a > m * (std::numbers::e / 8.0) ? m / (8.0 * a) : 1.0 / std::numbers::e);
    }

    XLogX<is_whole> x_log_x_;
    PerClass<n_fixed> terms_{};  ///< S_k
    double sum_ = 0.0, of_weights_ = 0.0;
};

/// How far the mean q of a side may be from right once entries of a bin are in it. With any q, the first term of a cost,
///   |L + A|^2 / (w + u) = 2 q (L + A) - |q|^2 (w + u) + |(L - q w) + sum_A (y - q)|^2 / (w + u),
/// is linear in the entries but for its last part. With q = L / w that is at most
///   (half of sum |y - mean| + m |mean - q|)^2 / w and, by Cauchy, sum |y - q|^2,
/// where sum |y - mean|^2 = `scatter` over the bin of weight m, and sum |y - mean| at most the root of m scatter. A side that is
/// empty has q = mean.
[[nodiscard]] inline double curvature(double w, double m, double scatter, double squared_distance) {
    const double all = scatter + m * squared_distance;
    if (!(w > 0.0)) return all;
    const double most = 0.5 * std::sqrt(m * scatter) + m * std::sqrt(squared_distance);
    return std::min(all, most * most / w);
}

/// Gini impurity: the weight less F, the sum over both sides of sum_k (weight of class k)^2 / weight.
template <std::size_t n_fixed>
class GiniSides : public ClassSides<n_fixed> {
    using Base = ClassSides<n_fixed>;
    using Base::left_, Base::left_weight_, Base::weight_, Base::total;

  public:
    explicit GiniSides(const ClassTargets& targets) : Base(targets) {}

    void start(const double* bin) {
        left_weight_ = 0.0;
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            left_[k] = bin == nullptr ? 0.0 : bin[k];
            left_weight_ += left_[k];
        }
    }
    void move_class(std::size_t k, double weight) {
        left_[k] += weight;
        left_weight_ += weight;
    }
    void move_entry(std::size_t i) { move_class(this->targets_.labels[i], this->targets_.weights[i]); }
    void move(const double* bin, double factor = 1.0) {
        for (std::size_t k = 0; k < this->n_classes(); ++k)
            if (bin[k] != 0.0) move_class(k, factor * bin[k]);
    }

    /// `curvature` with y the indicator of the class: besides it, F is linear in the weight of each class that is left, with 2
    /// q_k - |q|^2 a unit there and 2 r_k - |r|^2 on the right, so that the larger one counts.
    double step(const double* bin) {
        const double m = this->weight_of(bin);
        const double left = left_weight_;
        const double right = weight_ - left - m;
        double squares_of_bin = 0.0, squares_left = 0.0, squares_right = 0.0;
        double to_left = 0.0, to_right = 0.0;  // squared distances of the means
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            const auto [q, r, mean] = shares(k, bin, left, right, m);
            squares_of_bin += mean * mean;
            squares_left += q * q;
            squares_right += r * r;
            to_left += (mean - q) * (mean - q);
            to_right += (mean - r) * (mean - r);
        }
        const double scatter = std::max(0.0, m * (1.0 - squares_of_bin));
        double sum = (left > 0.0 ? left * squares_left : 0.0) + (right > 0.0 ? right * squares_right : 0.0);
        sum += curvature(left, m, scatter, to_left) + curvature(right, m, scatter, to_right);
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            const auto [q, r, mean] = shares(k, bin, left, right, m);
            sum += bin[k] * std::max(2.0 * q - squares_left, 2.0 * r - squares_right);
            left_[k] += bin[k];
        }
        left_weight_ += m;
        return weight_ - sum;
    }
    [[nodiscard]] double cost() const {
        double left = 0.0, right = 0.0;
        for (std::size_t k = 0; k < this->n_classes(); ++k) {
            left += left_[k] * left_[k];
            right += (total(k) - left_[k]) * (total(k) - left_[k]);
        }
        const double right_weight = weight_ - left_weight_;
        return weight_ - (left_weight_ > 0.0 ? left / left_weight_ : 0.0) - (right_weight > 0.0 ? right / right_weight : 0.0);
    }

  private:
    struct Shares {
        double left, right, bin;
    };
    [[nodiscard]] Shares shares(std::size_t k, const double* bin, double left, double right, double m) const {
        const double mean = bin[k] / m;
        return {left > 0.0 ? left_[k] / left : mean, right > 0.0 ? (total(k) - left_[k] - bin[k]) / right : mean, mean};
    }
};

/// Squared error of centred numbers: less the sum over both sides of |sum|^2 / weight. A bin has its weight, the number of its
/// entries, the sum of their squared lengths and their sum.
template <std::size_t n_fixed>
class NumberSides {
  public:
    explicit NumberSides(const NodeTargets& targets) : targets_(targets), weight_(targets.total_weight()) {
        if constexpr (n_fixed == 0) left_.resize(targets.n_outputs());
    }

    [[nodiscard]] std::size_t n_outputs() const { return n_fixed == 0 ? left_.size() : n_fixed; }
    [[nodiscard]] std::size_t n_sums() const { return n_before + n_outputs(); }
    struct Adder {
        const double* values;
        const double* weights;
        std::size_t n_outputs;
        void add(double* bin, std::size_t i) const {
            const std::size_t count = n_fixed == 0 ? n_outputs : n_fixed;
            bin[0] += weights[i];
            bin[1] += 1.0;
            double squares = 0.0;
            for (std::size_t k = 0; k < count; ++k) {
                const double value = values[i * count + k];
                bin[n_before + k] += weights[i] * value;
                squares += value * value;
            }
            bin[2] += weights[i] * squares;
        }
    };
    [[nodiscard]] Adder adder() const { return {targets_.values(0).data(), targets_.weights().data(), n_outputs()}; }
    void save(double* bin) const {
        bin[0] = left_weight_;
        std::ranges::copy(left_, bin + n_before);
    }
    void start(const double* bin) {
        left_weight_ = bin == nullptr ? 0.0 : bin[0];
        for (std::size_t k = 0; k < n_outputs(); ++k) left_[k] = bin == nullptr ? 0.0 : bin[n_before + k];
    }
    void move_entry(std::size_t i) {
        const double weight = targets_.weight(i);
        const auto values = targets_.values(i);
        for (std::size_t k = 0; k < n_outputs(); ++k) left_[k] += weight * values[k];
        left_weight_ += weight;
    }
    void move(const double* bin, double factor = 1.0) {
        left_weight_ += factor * bin[0];
        for (std::size_t k = 0; k < n_outputs(); ++k) left_[k] += factor * bin[n_before + k];
    }

    static constexpr std::size_t no_class = std::numeric_limits<std::size_t>::max();
    [[nodiscard]] static std::size_t only_class(const double* /*bin*/) { return no_class; }
    [[nodiscard]] static bool may_have_cuts(const double* bin) { return bin[1] > 1.0; }
    /// Mean of the first output; for one output, levels in this order have the best set among their first ones.
    [[nodiscard]] static double rank_of(const double* bin) { return bin[n_before] / bin[0]; }

    /// `curvature`; besides it, an entry y adds 2 q y - |q|^2 on the left, 2 r y - |r|^2 on the right, and the larger one counts:
    /// sum max(z, 0) = (sum z + sum |z|) / 2 for their difference z, where sum |z| is at most the root of m sum z^2.
    double step(const double* bin) {
        const double m = bin[0];
        const double left = left_weight_;
        const double right = weight_ - left - m;
        double squared_sum = 0.0, squares_left = 0.0, squares_right = 0.0;
        double to_left = 0.0, to_right = 0.0, apart = 0.0, along = 0.0, along_right = 0.0;
        for (std::size_t k = 0; k < n_outputs(); ++k) {
            const double sum = bin[n_before + k];
            const double mean = sum / m;
            const double q = left > 0.0 ? left_[k] / left : mean;
            const double r = right > 0.0 ? -(left_[k] + sum) / right : mean;
            squared_sum += sum * sum;
            squares_left += q * q;
            squares_right += r * r;
            to_left += (mean - q) * (mean - q);
            to_right += (mean - r) * (mean - r);
            apart += (q - r) * (q - r);
            along += (q - r) * sum;
            along_right += r * sum;
            left_[k] += sum;
        }
        left_weight_ += m;
        // What rounding may have taken from the scatter of a bin of equal numbers must not be missing under the roots.
        const double scatter = std::max(0.0, bin[2] - squared_sum / m) + rounding_of_scatter * bin[2];
        const double z = 2.0 * along - m * (squares_left - squares_right);
        const double larger = 0.5 * (z + std::sqrt(z * z + 4.0 * m * apart * scatter));
        double sum = (left > 0.0 ? left * squares_left : 0.0) + (right > 0.0 ? right * squares_right : 0.0);
        sum += 2.0 * along_right - m * squares_right + larger;
        return -sum - curvature(left, m, scatter, to_left) - curvature(right, m, scatter, to_right);
    }
    [[nodiscard]] double cost() const {
        double squares = 0.0;
        for (std::size_t k = 0; k < n_outputs(); ++k) squares += left_[k] * left_[k];
        // The sums of both sides differ in their sign alone: squares / left + squares / right.
        const double both = left_weight_ * (weight_ - left_weight_);
        return both > 0.0 ? -squares * (weight_ / both) : 0.0;
    }
    [[nodiscard]] double left_weight() const { return left_weight_; }
    [[nodiscard]] double right_weight() const { return weight_ - left_weight_; }

  private:
    static constexpr std::size_t n_before = 3;
    static constexpr double rounding_of_scatter = 1e-15;
    const NodeTargets& targets_;
    double weight_;
    double left_weight_ = 0.0;
    PerClass<n_fixed> left_{};
};

}  // namespace spinney
