/// OC1 splits: [M] Murthy, Kasif and Salzberg, "A system for induction of oblique decision trees". One weight after the other is
/// moved to where the impurity is least; random directions lead out of local minima. The start is the best column, as in
/// section 5 of co2-forest; restarts are random.

#include <algorithm>
#include <cmath>

#include "spinney/grow/split_rule.hpp"

namespace spinney {
namespace {

/// Passes over all weights before a climb is given up.
constexpr std::size_t most_passes = 20;

/// A hyperplane under search, in scaled space, with the scores of the node's rows.
template <Design D>
class Climber {
public:
    explicit Climber(const GrowSite<D>& site) : site_(site), n_(site.reach.size()), z_(site.columns.size() * n_), scores_(n_), w_(site.columns.size()) {
        gather_columns(site.rows, site.reach, site.columns, std::span(z_));
        for (std::size_t c = 0; c < w_.size(); ++c) {
            const std::uint32_t j = site.columns[c];
            for (float& x : std::span(z_).subspan(c * n_, n_))
                x = static_cast<float>((static_cast<double>(x) - site.scaling.mean[j]) * site.scaling.inverse_scale[j]);
        }
    }

    void start_at(const Hyperplane& plane) {
        std::ranges::fill(w_, 0.0);
        bias_ = plane.bias;
        for (std::size_t k = 0, c = 0; k < plane.columns.size(); ++k) {
            while (site_.columns[c] != plane.columns[k]) ++c;
            w_[c] = static_cast<double>(plane.weights[k]) / site_.scaling.inverse_scale[plane.columns[k]];
            bias_ += static_cast<double>(plane.weights[k]) * site_.scaling.mean[plane.columns[k]];
        }
        update();
    }
    void start_at_random(Random& random) {
        for (double& w : w_) w = random.normal();
        bias_ = 0.0;
        update();
        improve_along(std::vector<float>(n_, 1.0F), {}, 1.0);
    }

    void climb() {
        bool has_improved = true;
        for (std::size_t pass = 0; pass < most_passes && has_improved && !site_.is_stopped(); ++pass) {
            has_improved = improve_along(std::vector<float>(n_, 1.0F), {}, 1.0);
            for (std::size_t c = 0; c < w_.size() && !site_.is_stopped(); ++c) has_improved |= improve_weight(c);
        }
    }
    /// A step along a random direction; whether it was of use.
    bool jump(Random& random) {
        std::vector<double> direction(w_.size());
        std::vector<float> along(n_);
        const double bias = random.normal();
        std::vector<double> sums(n_, bias);
        for (std::size_t c = 0; c < w_.size(); ++c) {
            direction[c] = random.normal();
            for (std::size_t i = 0; i < n_; ++i) sums[i] += direction[c] * static_cast<double>(z_[c * n_ + i]);
        }
        for (std::size_t i = 0; i < n_; ++i) along[i] = static_cast<float>(sums[i]);
        return improve_along(along, direction, bias);
    }

    [[nodiscard]] Hyperplane plane() const {
        Hyperplane found;
        found.bias = bias_;
        for (std::size_t c = 0; c < w_.size(); ++c) {
            const std::uint32_t j = site_.columns[c];
            const auto weight = static_cast<float>(w_[c] * site_.scaling.inverse_scale[j]);
            if (weight == 0.0F || !std::isfinite(weight)) continue;
            found.columns.push_back(j);
            found.weights.push_back(weight);
            found.bias -= static_cast<double>(weight) * site_.scaling.mean[j];
        }
        return found;
    }

private:
    bool improve_weight(std::size_t c) {
        std::vector<double> direction(w_.size());
        direction[c] = 1.0;
        return improve_along(std::span<const float>(z_).subspan(c * n_, n_), direction, 0.0);
    }

    /// Moves the hyperplane by t (direction, bias) to the t of least cost; `along` is what a unit of it adds to each score.
    bool improve_along(std::span<const float> along, std::span<const double> direction, double bias) {
        // Row i changes sides at t_i = -score / along. From t = -inf up, rows that rise go right and rows that fall go left.
        std::vector<float> switches;
        std::vector<std::uint32_t> moving;
        Tally sides = site_.targets.tally();
        for (std::uint32_t i = 0; i < n_; ++i) {
            const double rate = static_cast<double>(along[i]);
            if (rate > 0.0 || (rate == 0.0 && scores_[i] < 0.0)) site_.targets.move(sides, i);
            const auto t = static_cast<float>(-scores_[i] / rate);
            if (rate == 0.0 || !std::isfinite(t)) continue;
            switches.push_back(t);
            moving.push_back(i);
        }
        const auto order = order_of(switches);
        double best = cost_ - site_.targets.rounding();
        float best_t = 0.0F;
        bool is_better = false;
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            const std::uint32_t i = moving[order[k]];
            site_.targets.move(sides, i, along[i] > 0.0F ? -1.0 : 1.0);
            const float a = switches[order[k]];
            const float b = switches[order[k + 1]];
            const bool does_part = sides.left_weight() > 0.0 && sides.right_weight() > 0.0;
            if (!(a < b) || !does_part || !(sides.cost() < best)) continue;
            best = sides.cost() - site_.targets.rounding();
            best_t = 0.5F * a + 0.5F * b;
            is_better = true;
        }
        if (!is_better) return false;
        const auto w = w_;
        const auto scores = scores_;
        const double old_bias = bias_;
        const double before = cost_;
        for (std::size_t c = 0; c < direction.size(); ++c) w_[c] += static_cast<double>(best_t) * direction[c];
        bias_ += static_cast<double>(best_t) * bias;
        update();
        if (cost_ < before - site_.targets.rounding()) return true;
        w_ = w;  // rows lay so close together that rounding moved some to the other side
        scores_ = scores;
        bias_ = old_bias;
        cost_ = before;
        return false;
    }

    /// Scores and cost from the weights.
    void update() {
        std::ranges::fill(scores_, bias_);
        for (std::size_t c = 0; c < w_.size(); ++c) {
            if (w_[c] == 0.0) continue;
            for (std::size_t i = 0; i < n_; ++i) scores_[i] += w_[c] * static_cast<double>(z_[c * n_ + i]);
        }
        Tally sides = site_.targets.tally();
        for (std::size_t i = 0; i < n_; ++i)
            if (scores_[i] < 0.0) site_.targets.move(sides, i);
        cost_ = sides.cost();
    }

    const GrowSite<D>& site_;
    std::size_t n_;
    std::vector<float> z_;
    std::vector<double> scores_, w_;
    double bias_ = 0.0, cost_ = 0.0;
};

template <Design D>
class OC1Rule final : public SplitRule<D> {
public:
    OC1Rule(std::size_t n_restarts, std::size_t n_jumps) : n_restarts_(n_restarts), n_jumps_(n_jumps) {}

    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        Hyperplane best = best_axis(site, random);
        if (best.is_empty()) return best;
        double least = cut_along(site, best).cost;
        Climber<D> climber(site);
        climber.start_at(best);
        for (std::size_t start = 0; start <= n_restarts_ && !site.is_stopped(); ++start) {
            if (start > 0) climber.start_at_random(random);
            climber.climb();
            for (std::size_t jump = 0; jump < n_jumps_ && !site.is_stopped(); ++jump)
                if (climber.jump(random)) climber.climb();
            // Judged by the scores that rows will have: rounding may close a gap that the climber found.
            Hyperplane plane = climber.plane();
            if (plane.is_empty()) continue;
            const Cut cut = cut_along(site, plane);
            if (!cut.is_found || !(cut.cost < least - site.targets.rounding())) continue;
            least = cut.cost;
            best = std::move(plane);
        }
        return best;
    }

private:
    std::size_t n_restarts_, n_jumps_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> oc1_rule(std::size_t n_restarts, std::size_t n_jumps) {
    return std::make_unique<OC1Rule<D>>(n_restarts, n_jumps);
}

template std::unique_ptr<SplitRule<DenseRows>> oc1_rule(std::size_t, std::size_t);
template std::unique_ptr<SplitRule<ByteRows>> oc1_rule(std::size_t, std::size_t);
template std::unique_ptr<SplitRule<SparseRows>> oc1_rule(std::size_t, std::size_t);

}  // namespace spinney
