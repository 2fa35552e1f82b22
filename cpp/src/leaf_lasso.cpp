/// Eq. (6) of [F] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest Alternating
/// Optimization", with squared loss and l1 penalty, by coordinate descent.

#include "spinney/leaf_lasso.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "leaf_residual.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t sweeps_per_guess = 5;
constexpr std::size_t max_looks = 1000;
constexpr int max_halvings = 20;

/// Factors z, of sum 1, for which |sum_i z_i step_i| is least, given the products of the steps: C z ~ 1.
std::array<double, sweeps_per_guess> shares(std::array<std::array<double, sweeps_per_guess>, sweeps_per_guess> products) {
    constexpr std::size_t size = sweeps_per_guess;
    std::array<double, size> z;
    z.fill(1.0);
    double trace = 0.0;
    for (std::size_t i = 0; i < size; ++i) trace += products[i][i];
    // Steps may be multiples of each other, or none at all; enough is added to keep pivots positive.
    for (std::size_t i = 0; i < size; ++i) products[i][i] += 1e-10 * trace + std::numeric_limits<double>::min();
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = i + 1; j < size; ++j) {
            const double factor = products[j][i] / products[i][i];
            for (std::size_t k = i; k < size; ++k) products[j][k] -= factor * products[i][k];
            z[j] -= factor * z[i];
        }
    double sum = 0.0;
    for (std::size_t i = size; i-- > 0;) {
        for (std::size_t k = i + 1; k < size; ++k) z[i] -= products[i][k] * z[k];
        z[i] /= products[i][i];
        sum += z[i];
    }
    for (double& share : z) share /= sum;
    return z;
}

/// Where on the way from `values` by `steps` the squares + l1 |values| are least, in units of the way; 0 if right here.
double least_on_way(Parabola squares, std::span<const double> values, std::span<const double> steps, double l1,
                    std::vector<std::pair<double, double>>& kinks) {
    kinks.clear();
    double slope = squares.slope;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (steps[i] == 0.0) continue;
        const double kink = -values[i] / steps[i];
        slope += kink > 0.0 ? -l1 * std::fabs(steps[i]) : l1 * std::fabs(steps[i]);
        if (kink > 0.0) kinks.emplace_back(kink, 2.0 * l1 * std::fabs(steps[i]));
    }
    std::ranges::sort(kinks);
    const double bend = 2.0 * std::max(squares.bend, 0.0);
    double at = 0.0;
    for (const auto& [kink, rise] : kinks) {
        if (slope + bend * kink >= 0.0) break;
        at = kink;
        slope += rise;
    }
    return slope < 0.0 && bend > 0.0 ? std::max(at, -slope / bend) : at;
}

/// Values of one output on their way down.
template <class Residual>
class Descent {
  public:
    Descent(Residual residual, const LeafList& list, std::span<const double> start)
        : residual_(std::move(residual)), list_(list), values_(start.begin(), start.end()), steps_(start.size()) {
        residual_.set(values_);
    }

    /// Values of low objective; see LeafLasso::solve.
    std::vector<double> solve(double l1, double tolerance) {
        const std::vector<double> start = values_;
        const double first = objective(l1);
        Outcome best = descend_in_stages(l1, tolerance);
        if (best.gap > 100.0 * tolerance * best.objective && !is_zero(start)) begin_again(l1, tolerance, best);
        if (best.objective > first) {
            put(start);
            finish(l1, tolerance);
        }
        return std::move(values_);
    }

  private:
    struct Outcome {
        double objective, gap;
    };

    void put(const std::vector<double>& values) {
        values_ = values;
        residual_.set(values_);
    }

    [[nodiscard]] static bool is_zero(const std::vector<double>& values) {
        return std::ranges::all_of(values, [](double value) { return value == 0.0; });
    }

    /// Larger penalties first. The slope of the squares is twice the sum over a leaf; the first is half of the largest slope.
    Outcome descend_in_stages(double l1, double tolerance) {
        double stage = std::min(residual_.steepest(), std::ldexp(l1, max_halvings));
        while (stage > 1.5 * l1) {
            descend(stage);
            stage *= 0.5;
        }
        return finish(l1, tolerance);
    }

    /// Once more, from zero, and keeps the better. Leaves that could trade their values at no loss do so by steps of the
    /// size of the penalty, which may be too slow to be seen but in the gap.
    void begin_again(double l1, double tolerance, Outcome& best) {
        const std::vector<double> kept = values_;
        put(std::vector<double>(kept.size()));
        const Outcome found = descend_in_stages(l1, tolerance);
        if (found.objective < best.objective)
            best = found;
        else
            put(kept);
    }

    [[nodiscard]] double size() const {
        double sum = 0.0;
        for (const std::uint32_t leaf : list_.leaves) sum += std::fabs(values_[leaf]);
        return sum;
    }
    [[nodiscard]] double objective(double l1) const { return residual_.squares(values_) + l1 * size(); }

    /// How far the objective is at most above its least value: the best multiple of the residual that is dual feasible.
    [[nodiscard]] double gap(double l1) {
        const double squares = residual_.squares(values_);
        const double along = residual_.along_targets(values_);
        const double slope = 2.0 * residual_.steepest();
        const double limit = slope > 0.0 ? l1 / slope : std::numeric_limits<double>::max();
        const double scale = squares > 0.0 ? std::clamp(along / squares, -limit, limit) : 0.0;
        return squares + l1 * size() - scale * (2.0 * along - scale * squares);
    }

    /// Sweeps until they bring nothing.
    Outcome finish(double l1, double tolerance) {
        Outcome now{objective(l1), std::numeric_limits<double>::infinity()};
        for (std::size_t look = 0; look < max_looks; ++look) {
            descend(l1);
            const double last = now.objective;
            now = {objective(l1), gap(l1)};
            if (now.gap <= tolerance * now.objective || last - now.objective <= 0.01 * tolerance * now.objective) break;
        }
        return now;
    }

    /// Sweeps with a guess after every few, and one more: guesses are not sparse.
    void descend(double l1) {
        for (std::size_t n = 0; n < LeafLasso::sweeps_per_look; n += sweeps_per_guess) {
            path_[0] = values_;
            for (std::size_t i = 1; i <= sweeps_per_guess; ++i) {
                residual_.sweep(values_, l1);
                path_[i] = values_;
            }
            check_stop();
            guess(l1);
        }
        residual_.sweep(values_, l1);
    }

    /// Goes towards where the last sweeps seem to lead, as far as it goes down.
    void guess(double l1) {
        std::array<std::array<double, sweeps_per_guess>, sweeps_per_guess> products{};
        for (const std::uint32_t leaf : list_.leaves)
            for (std::size_t i = 0; i < sweeps_per_guess; ++i)
                for (std::size_t j = 0; j <= i; ++j)
                    products[i][j] +=
                        list_.diagonal[leaf] * (path_[i + 1][leaf] - path_[i][leaf]) * (path_[j + 1][leaf] - path_[j][leaf]);
        for (std::size_t i = 0; i < sweeps_per_guess; ++i)
            for (std::size_t j = 0; j < i; ++j) products[j][i] = products[i][j];
        const auto z = shares(products);
        const double here = objective(l1);
        const std::vector<double>& start = path_[sweeps_per_guess];
        for (const std::uint32_t leaf : list_.leaves) {
            double sum = 0.0;
            for (std::size_t i = 0; i < sweeps_per_guess; ++i) sum += z[i] * path_[i + 1][leaf];
            steps_[leaf] = sum - start[leaf];
            values_[leaf] = sum;
        }
        const Residual before = residual_;
        residual_.set(values_);
        const double share = least_on_way(residual_.way_from(before, steps_), start, steps_, l1, kinks_);
        for (const std::uint32_t leaf : list_.leaves) values_[leaf] = start[leaf] + share * steps_[leaf];
        // Not from the two residuals: between points that are all but one, their difference is rounding.
        residual_.set(values_);
        if (objective(l1) < here) return;
        values_ = start;
        residual_ = before;
    }

    Residual residual_;
    LeafList list_;
    std::vector<double> values_, steps_;
    std::vector<std::pair<double, double>> kinks_;
    std::array<std::vector<double>, sweeps_per_guess + 1> path_;
};

}  // namespace

LeafLasso::LeafLasso(const LeafDesign& design, double l1, std::size_t gram_limit, std::size_t n_threads)
    : design_(design), l1_(l1), n_threads_(n_threads), diagonal_(leaf_weights(design)) {
    std::vector<std::size_t> tree_of(design_.n_leaves, design_.n_trees);
    for (std::size_t t = 0; t < design_.n_trees; ++t)
        design_.visit(t, [&](auto leaf_of, std::size_t first) {
            for (const auto number : leaf_of) {
                std::size_t& tree = tree_of[first + number];
                if (tree != design_.n_trees && tree != t) throw std::invalid_argument("a leaf belongs to two trees");
                tree = t;
            }
        });
    first_of_tree_.assign(design_.n_trees + 1, 0);
    for (std::size_t leaf = 0; leaf < design_.n_leaves; ++leaf)
        if (diagonal_[leaf] > 0.0) weighty_.push_back(static_cast<std::uint32_t>(leaf));
    std::ranges::stable_sort(weighty_, {}, [&](std::uint32_t leaf) { return tree_of[leaf]; });
    for (const std::uint32_t leaf : weighty_) ++first_of_tree_[tree_of[leaf] + 1];
    for (std::size_t t = 0; t < design_.n_trees; ++t) first_of_tree_[t + 1] += first_of_tree_[t];
    if (design_.n_leaves > gram_limit) return;
    gram_ = shared_weights(design_, n_threads_);
    for (std::size_t i = 0; i < design_.n_leaves; ++i) {
        gram_[i * design_.n_leaves + i] = diagonal_[i];
        // Two leaves were counted in one of the two places, by the order of their trees.
        for (std::size_t j = 0; j < i; ++j) {
            double& below = gram_[i * design_.n_leaves + j];
            double& above = gram_[j * design_.n_leaves + i];
            below = above = below + above;
        }
    }
}

void LeafLasso::solve(std::span<const double> targets, std::size_t n_outputs, std::span<double> values, double tolerance) const {
    const LeafList list{diagonal_, weighty_, first_of_tree_};
    parallel_for(n_outputs, n_threads_, [&](std::size_t k) {
        std::vector<double> mine(design_.n_rows()), start(design_.n_leaves);
        for (std::size_t n = 0; n < mine.size(); ++n) mine[n] = targets[n * n_outputs + k];
        for (const std::uint32_t leaf : weighty_) start[leaf] = values[leaf * n_outputs + k];
        const auto found = gram_.empty() ? Descent(RowResidual(design_, list, mine), list, start).solve(l1_, tolerance)
                                         : Descent(GramResidual(design_, list, gram_, mine), list, start).solve(l1_, tolerance);
        for (const std::uint32_t leaf : weighty_) values[leaf * n_outputs + k] = found[leaf];
    });
}

}  // namespace spinney
