/// Perceptron splits, section 2 of [H] Ho, "Random Decision Forests".

#include <algorithm>
#include <limits>
#include <numeric>

#include "add_rows.hpp"
#include "spinney/grow/class_means.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// +1 for the classes of the set that the second anchor heads, -1 for the others: each class joins the nearer anchor
/// (S_2 and S_1 of [H, section 2]).
template <Design D>
std::vector<int> sides_of_classes(const GrowSite<D>& site, const ClassMeans& means) {
    std::vector<int> sides(means.labels.back() + 1);
    for (std::size_t k = 0; k < means.labels.size(); ++k) {
        const std::span<const double> mean(means.means[k]);
        const double to_first = squared_distance(site, mean, means.means[means.first]);
        const double to_second = squared_distance(site, mean, means.means[means.second]);
        sides[means.labels[k]] = to_second < to_first ? 1 : -1;
    }
    return sides;
}

/// A perceptron over raw features; increments are those of scaled space. It remembers where it made the least error: "the number
/// of points on the wrong side" [H, section 2] may rise again where the sets cannot be separated.
template <Design D>
class Perceptron {
  public:
    Perceptron(const GrowSite<D>& site, std::span<const std::size_t> labels, std::span<const int> sides)
        : site_(site), labels_(labels), sides_(sides), w_(site.rows.width()), best_w_(w_.size()), order_(labels.size()),
          unit_(unit_of(site.targets)) {
        std::iota(order_.begin(), order_.end(), 0U);
    }

    /// Until the error is zero, or after `max_iter` passes [H, section 2].
    Hyperplane train(std::size_t max_iter, Random& random) {
        for (std::size_t epoch = 0; epoch < max_iter && least_error_ > 0.0; ++epoch) {
            check_stop();
            random.shuffle(std::span(order_));
            for (std::size_t k = 0; k < order_.size(); ++k) {
                check_stop_at(k);
                if (is_wrong(order_[k])) correct(order_[k]);
            }
            keep_best();
        }
        return compact(best_w_, best_offset_);
    }

    /// Whether most of some class lies on another side than most of another; if not, [H, section 2] takes a central axis.
    [[nodiscard]] bool separates(const Hyperplane& plane) const {
        std::vector<float> scores(labels_.size());
        score_rows(site_.rows, site_.reach, plane, std::span(scores));
        std::vector<double> balance(sides_.size());
        for (std::size_t i = 0; i < scores.size(); ++i)
            balance[labels_[i]] +=
                static_cast<double>(scores[i]) + plane.bias >= 0.0 ? site_.targets.weight(i) : -site_.targets.weight(i);
        return std::ranges::any_of(balance, [](double b) { return b > 0.0; }) &&
               std::ranges::any_of(balance, [](double b) { return b < 0.0; });
    }

  private:
    /// Weight of the mean row; exactly that of each row if all weigh the same, so that the unit of the weights changes nothing.
    static double unit_of(const NodeTargets& targets) {
        bool is_even = true;
        for (std::size_t i = 1; i < targets.size(); ++i) is_even = is_even && targets.weight(i) == targets.weight(0);
        return is_even ? targets.weight(0) : targets.total_weight() / static_cast<double>(targets.size());
    }
    [[nodiscard]] int side(std::uint32_t i) const { return sides_[labels_[i]]; }
    [[nodiscard]] bool is_wrong(std::uint32_t i) const {
        const double score = site_.rows.dot(site_.reach[i], w_.data()) + offset_;
        return side(i) > 0 ? !(score >= 0.0) : score >= 0.0;
    }

    /// The fixed increment [H, section 2]: the row itself. A row that counts more than the mean row steps farther.
    void correct(std::uint32_t i) {
        const double slope = side(i) * site_.targets.weight(i) / unit_;
        const auto slope32 = static_cast<float>(slope);
        add_rows(site_.rows, {&site_.reach[i], 1}, {&slope32, 1}, site_.scaling.mean32, site_.scaling.metric32, std::span(w_));
        bias_ += slope;
        offset_ = bias_;
        for (std::uint32_t j : site_.columns) offset_ -= static_cast<double>(w_[j]) * site_.scaling.mean[j];
    }

    void keep_best() {
        double error = 0.0;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            check_stop_at(i);
            if (is_wrong(i)) error += site_.targets.weight(i);
        }
        if (!(error < least_error_ - site_.targets.weight_rounding())) return;
        least_error_ = error;
        best_w_ = w_;
        best_offset_ = offset_;
    }

    const GrowSite<D>& site_;
    std::span<const std::size_t> labels_;
    std::span<const int> sides_;
    std::vector<float> w_, best_w_;
    std::vector<std::uint32_t> order_;
    double unit_;
    double bias_ = 0.0, offset_ = 0.0, best_offset_ = 0.0;
    double least_error_ = std::numeric_limits<double>::infinity();
};

template <Design D>
class PerceptronRule final : public SplitRule<D> {
  public:
    PerceptronRule(std::size_t max_iter, std::size_t n_steps) : max_iter_(max_iter), n_steps_(n_steps) {}
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        const auto labels = labels_of(site);
        const ClassMeans means = class_means(site, labels);
        if (!(means.squared_distance > 0.0)) return {};
        const auto sides = sides_of_classes(site, means);
        Perceptron<D> perceptron(site, labels, sides);
        Hyperplane plane = perceptron.train(max_iter_, random);
        if (!plane.is_empty() && perceptron.separates(plane)) return plane;
        return central_axis(site, std::span<const std::size_t>(labels), means, n_steps_);
    }

  private:
    std::size_t max_iter_, n_steps_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> perceptron_rule(std::size_t max_iter, std::size_t n_steps) {
    return std::make_unique<PerceptronRule<D>>(max_iter, n_steps);
}

#define SPINNEY_INSTANTIATE(D) template std::unique_ptr<SplitRule<D>> perceptron_rule(std::size_t, std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
