/// Eq. (6) of [F] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest Alternating
/// Optimization", with squared loss and l1 penalty, by coordinate descent.

#include "spinney/leaf_lasso.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t sweeps_per_guess = 5;
constexpr std::size_t max_looks = 1000;
constexpr int max_halvings = 20;

double soft_threshold(double x, double by) { return std::copysign(std::max(std::fabs(x) - by, 0.0), x); }

/// Leaves that count, and the weight of each.
struct LeafList {
    std::span<const double> diagonal;
    std::span<const std::uint32_t> leaves;
    std::span<const std::size_t> first_of_tree;
};

/// slope x + bend x^2
struct Parabola {
    double slope = 0.0, bend = 0.0;
};

/// The residual by rows.
class RowResidual {
  public:
    RowResidual(const LeafDesign& design, const LeafList& list, std::span<const double> targets)
        : design_(design), list_(list), targets_(targets), rest_(targets.size()), sums_(design.n_leaves),
          moves_(design.n_leaves) {}

    void set(std::span<const double> values) {
        add_up(design_, values, 1, rest_, 1);
        for (std::size_t n = 0; n < rest_.size(); ++n) rest_[n] = targets_[n] - rest_[n];
    }

    void sweep(std::span<double> values, double l1) {
        std::ranges::fill(sums_, 0.0);
        for (std::size_t t = 0; t < design_.n_trees; ++t) {
            pass(t);
            for (std::size_t i = list_.first_of_tree[t]; i < list_.first_of_tree[t + 1]; ++i) {
                const std::uint32_t leaf = list_.leaves[i];
                const double weight = list_.diagonal[leaf];
                const double value = soft_threshold(sums_[leaf] + weight * values[leaf], 0.5 * l1) / weight;
                moves_[leaf] = value - values[leaf];
                values[leaf] = value;
            }
        }
        if (design_.n_trees == 0) return;
        const auto last = design_.tree(design_.n_trees - 1);
        for (std::size_t n = 0; n < rest_.size(); ++n) rest_[n] -= moves_[last[n]];
    }

    /// The squares on the way from `start` to here, which is `steps` of the leaves.
    [[nodiscard]] Parabola way_from(const RowResidual& start, std::span<const double>) const {
        Parabola way;
        for (std::size_t n = 0; n < rest_.size(); ++n) {
            const double change = rest_[n] - start.rest_[n];
            way.slope += 2.0 * design_.weights[n] * start.rest_[n] * change;
            way.bend += design_.weights[n] * change * change;
        }
        return way;
    }

    /// r'Wr
    [[nodiscard]] double squares(std::span<const double>) const { return weighted(rest_); }
    /// r'Wy
    [[nodiscard]] double along_targets(std::span<const double>) const { return weighted(targets_); }
    /// largest |A'Wr|
    [[nodiscard]] double steepest() {
        collect(design_, rest_, 1, sums_, 1);
        double most = 0.0;
        for (const double sum : sums_) most = std::max(most, std::fabs(sum));
        return most;
    }

  private:
    /// Sums the residual over the leaves of tree t, after what the tree before has moved is taken off.
    void pass(std::size_t t) {
        check_stop_after(rest_.size());
        const auto mine = design_.tree(t);
        if (t == 0) {
            for (std::size_t n = 0; n < rest_.size(); ++n) sums_[mine[n]] += design_.weights[n] * rest_[n];
            return;
        }
        const auto before = design_.tree(t - 1);
        for (std::size_t n = 0; n < rest_.size(); ++n) {
            rest_[n] -= moves_[before[n]];
            sums_[mine[n]] += design_.weights[n] * rest_[n];
        }
    }
    [[nodiscard]] double weighted(std::span<const double> other) const {
        double sum = 0.0;
        for (std::size_t n = 0; n < rest_.size(); ++n) sum += design_.weights[n] * rest_[n] * other[n];
        return sum;
    }

    LeafDesign design_;
    LeafList list_;
    std::span<const double> targets_;
    std::vector<double> rest_, sums_, moves_;  ///< moves of leaves without weight stay 0
};

/// The residual by its sums over leaves, A'Wr.
class GramResidual {
  public:
    GramResidual(const LeafDesign& design, const LeafList& list, std::span<const double> gram, std::span<const double> targets)
        : list_(list), gram_(gram), wanted_(design.n_leaves), rest_(design.n_leaves) {
        collect(design, targets, 1, wanted_, 1);
        for (std::size_t n = 0; n < targets.size(); ++n) target_squares_ += design.weights[n] * targets[n] * targets[n];
    }

    void set(std::span<const double> values) {
        rest_ = wanted_;
        for (const std::uint32_t leaf : list_.leaves) {
            check_stop_at(leaf);
            move(leaf, values[leaf]);
        }
    }

    void sweep(std::span<double> values, double l1) {
        for (const std::uint32_t leaf : list_.leaves) {
            check_stop_at(leaf);
            const double weight = list_.diagonal[leaf];
            const double value = soft_threshold(rest_[leaf] + weight * values[leaf], 0.5 * l1) / weight;
            move(leaf, value - values[leaf]);
            values[leaf] = value;
        }
    }

    [[nodiscard]] Parabola way_from(const GramResidual& start, std::span<const double> steps) const {
        Parabola way;
        for (const std::uint32_t leaf : list_.leaves) {
            way.slope -= 2.0 * steps[leaf] * start.rest_[leaf];
            way.bend -= steps[leaf] * (rest_[leaf] - start.rest_[leaf]);
        }
        return way;
    }

    /// y'Wy - v'A'Wy - v'A'Wr
    [[nodiscard]] double squares(std::span<const double> values) const {
        double sum = along_targets(values);
        for (const std::uint32_t leaf : list_.leaves) sum -= values[leaf] * rest_[leaf];
        return std::max(sum, 0.0);
    }
    [[nodiscard]] double along_targets(std::span<const double> values) const {
        double sum = target_squares_;
        for (const std::uint32_t leaf : list_.leaves) sum -= values[leaf] * wanted_[leaf];
        return sum;
    }
    [[nodiscard]] double steepest() const {
        double most = 0.0;
        for (const double sum : rest_) most = std::max(most, std::fabs(sum));
        return most;
    }

  private:
    void move(std::size_t leaf, double by) {
        if (by == 0.0) return;
        const double* row = gram_.data() + leaf * rest_.size();
        for (std::size_t i = 0; i < rest_.size(); ++i) rest_[i] -= by * row[i];
    }

    LeafList list_;
    std::span<const double> gram_;
    std::vector<double> wanted_, rest_;
    double target_squares_ = 0.0;
};

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
        for (const std::uint32_t leaf : design_.tree(t)) {
            if (tree_of[leaf] != design_.n_trees && tree_of[leaf] != t)
                throw std::invalid_argument("a leaf belongs to two trees");
            tree_of[leaf] = t;
        }
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
