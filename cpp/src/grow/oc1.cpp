/// OC1 splits: [M] Murthy, Kasif and Salzberg, "A system for induction of oblique decision trees". One weight after the other is
/// moved to where the impurity is least; steps along random directions lead out of local minima ([M] sections 2.2 and 2.3). The
/// start is the best column, as in section 5 of co2-forest; restarts are random.

#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Passes over all weights before a climb is given up.
constexpr std::size_t most_passes = 20;

/// How much less likely a move that changes no cost becomes with each such move ([M] section 2.2).
constexpr double patience_of_stagnation = 0.1;

/// Means of the columns over the rows of a node, in single precision: a row of weight k gives the same bits as k such rows.
template <Design D>
std::vector<double> means_of(const GrowSite<D>& site, std::span<const float> columns) {
    const std::size_t n = site.reach.size();
    std::vector<double> means(site.columns.size());
    for (std::size_t c = 0; c < means.size(); ++c) {
        double sum = 0.0;
        double weight = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            check_stop_at(i);
            sum += site.targets.weight(i) * static_cast<double>(columns[c * n + i]);
            weight += site.targets.weight(i);
        }
        means[c] = static_cast<double>(static_cast<float>(sum / weight));
    }
    return means;
}

/// A hyperplane under search, in scaled space about the mean of the node, with the scores of the node's rows.
template <Design D>
class Climber {
  public:
    Climber(const GrowSite<D>& site, Random& random)
        : site_(site), random_(random), n_(site.reach.size()), z_(site.columns.size() * n_), scores_(n_),
          w_(site.columns.size()) {
        gather_columns(site.rows, site.reach, site.columns, std::span(z_));
        // A move of one weight turns the hyperplane about where its column is 0: about the middle of the node, not of all rows.
        mean_ = means_of(site, z_);
        for (std::size_t c = 0; c < w_.size(); ++c) {
            check_stop_after(n_);
            for (float& x : std::span(z_).subspan(c * n_, n_))
                x = static_cast<float>((static_cast<double>(x) - mean_[c]) * site.scaling.inverse_scale[site.columns[c]]);
        }
    }

    void start_at(const Hyperplane& plane) {
        std::ranges::fill(w_, 0.0);
        bias_ = plane.bias;
        for (std::size_t k = 0, c = 0; k < plane.columns.size(); ++k) {
            while (site_.columns[c] != plane.columns[k]) ++c;
            w_[c] = static_cast<double>(plane.weights[k]) / site_.scaling.inverse_scale[plane.columns[k]];
            bias_ += static_cast<double>(plane.weights[k]) * mean_[c];
        }
        update();
    }
    void start_at_random() {
        for (double& w : w_) w = random_.normal();
        bias_ = 0.0;
        update();
        move_bias();
    }

    /// One weight after the other, until a pass over all of them lowers the cost no more.
    void climb() {
        chance_ = 1.0;
        bool has_improved = true;
        for (std::size_t pass = 0; pass < most_passes && has_improved; ++pass) {
            has_improved = move_bias();
            for (std::size_t c = 0; c < w_.size(); ++c) has_improved |= move_weight(c);
        }
    }
    /// A step along a random direction; whether it was of use.
    bool jump() {
        chance_ = 0.0;
        std::vector<double> direction(w_.size());
        std::vector<float> along(n_);
        const double bias = random_.normal();
        std::vector<double> sums(n_, bias);
        for (std::size_t c = 0; c < w_.size(); ++c) {
            check_stop_after(n_);
            direction[c] = random_.normal();
            for (std::size_t i = 0; i < n_; ++i) sums[i] += direction[c] * static_cast<double>(z_[c * n_ + i]);
        }
        for (std::size_t i = 0; i < n_; ++i) along[i] = static_cast<float>(sums[i]);
        return move_along(along, direction, bias);
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
            found.bias -= static_cast<double>(weight) * mean_[c];
        }
        return found;
    }

  private:
    /// A step of some length along a direction, and the cost of the hyperplane there.
    struct Move {
        double length = 0.0;
        double cost = std::numeric_limits<double>::infinity();
    };

    bool move_bias() { return move_along(std::vector<float>(n_, 1.0F), std::vector<double>(w_.size()), 1.0); }
    bool move_weight(std::size_t c) {
        std::vector<double> direction(w_.size());
        direction[c] = 1.0;
        return move_along(std::span<const float>(z_).subspan(c * n_, n_), direction, 0.0);
    }

    /// Moves the hyperplane along (direction, bias) to where the cost is least; `along` is what a unit of it adds to each score.
    /// True if the cost falls. A move that leaves it as it is, is made the less likely the more of them there were.
    bool move_along(std::span<const float> along, std::span<const double> direction, double bias) {
        const Move move = best_move(along);
        const double rounding = site_.targets.rounding();
        const bool is_better = move.cost < cost_ - rounding;
        if (!is_better) {
            if (!(move.cost <= cost_ + rounding) || !(random_.uniform() < chance_)) return false;
            chance_ -= patience_of_stagnation;
        }
        const double before = cost_;
        const auto w = w_;
        const auto scores = scores_;
        const double old_bias = bias_;
        for (std::size_t c = 0; c < direction.size(); ++c) w_[c] += move.length * direction[c];
        bias_ += move.length * bias;
        update();
        if (is_better ? cost_ < before - rounding : cost_ <= before + rounding) {
            if (is_better) chance_ = 1.0;
            return is_better;
        }
        w_ = w;  // rows lay so close together that rounding moved some to the other side
        scores_ = scores;
        bias_ = old_bias;
        cost_ = before;
        return false;
    }

    /// The step of least cost along a direction; one of those at random where several are as good.
    [[nodiscard]] Move best_move(std::span<const float> along) {
        check_stop();
        // Row i changes sides at t_i = -score / along. From t = -inf up, rows that rise go right and rows that fall go left.
        std::vector<float> switches;
        std::vector<std::uint32_t> moving;
        Tally sides = site_.targets.tally();
        for (std::uint32_t i = 0; i < n_; ++i) {
            check_stop_at(i);
            const double rate = static_cast<double>(along[i]);
            if (rate > 0.0 || (rate == 0.0 && scores_[i] < 0.0)) site_.targets.move(sides, i);
            const auto t = static_cast<float>(-scores_[i] / rate);
            if (rate == 0.0 || !std::isfinite(t)) continue;
            switches.push_back(t);
            moving.push_back(i);
        }
        const auto order = order_of(switches);
        const double rounding = site_.targets.rounding();
        Move best;
        std::uint32_t n_equal = 0;
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            check_stop_at(k);
            const std::uint32_t i = moving[order[k]];
            site_.targets.move(sides, i, along[i] > 0.0F ? -1.0 : 1.0);
            const float a = switches[order[k]];
            const float b = switches[order[k + 1]];
            const bool does_part = sides.left_weight() > 0.0 && sides.right_weight() > 0.0;
            if (!(a < b) || !does_part) continue;
            const double cost = sides.cost();
            if (!(cost <= best.cost + rounding)) continue;
            n_equal = cost < best.cost - rounding ? 1 : n_equal + 1;
            if (random_.below(n_equal) > 0) continue;
            best = {0.5 * static_cast<double>(a) + 0.5 * static_cast<double>(b), cost};
        }
        return best;
    }

    /// Scores and cost from the weights.
    void update() {
        std::ranges::fill(scores_, bias_);
        for (std::size_t c = 0; c < w_.size(); ++c) {
            if (w_[c] == 0.0) continue;
            check_stop_after(n_);
            for (std::size_t i = 0; i < n_; ++i) scores_[i] += w_[c] * static_cast<double>(z_[c * n_ + i]);
        }
        Tally sides = site_.targets.tally();
        for (std::size_t i = 0; i < n_; ++i)
            if (scores_[i] < 0.0) site_.targets.move(sides, i);
        cost_ = sides.cost();
    }

    const GrowSite<D>& site_;
    Random& random_;
    std::size_t n_;
    std::vector<float> z_;
    std::vector<double> scores_, w_, mean_;
    double bias_ = 0.0, cost_ = 0.0;
    double chance_ = 1.0;  ///< that a move is made which changes no cost
};

template <Design D>
class OC1Rule final : public SplitRule<D> {
  public:
    OC1Rule(std::size_t n_restarts, std::size_t n_jumps) : n_restarts_(n_restarts), n_jumps_(n_jumps) {}

    [[nodiscard]] bool searches_columns() const override { return true; }
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        Hyperplane best = best_axis(site, random);
        if (best.is_empty()) return best;
        double least = cut_along(site, best).cost;
        Climber<D> climber(site, random);
        climber.start_at(best);
        for (std::size_t start = 0; start <= n_restarts_; ++start) {
            if (start > 0) climber.start_at_random();
            climb_and_jump(climber);
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
    /// Every local minimum has all jumps; one that helps leads to the next climb.
    void climb_and_jump(Climber<D>& climber) const {
        bool has_left = true;
        while (has_left) {
            climber.climb();
            has_left = false;
            for (std::size_t jump = 0; jump < n_jumps_ && !has_left; ++jump) has_left = climber.jump();
        }
    }

    std::size_t n_restarts_, n_jumps_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> oc1_rule(std::size_t n_restarts, std::size_t n_jumps) {
    return std::make_unique<OC1Rule<D>>(n_restarts, n_jumps);
}

#define SPINNEY_INSTANTIATE(D) template std::unique_ptr<SplitRule<D>> oc1_rule(std::size_t, std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
