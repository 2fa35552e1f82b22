#pragma once
/// What the leaves of a forest leave over of one target, under coordinate descent: [F] Carreira-Perpiñán, Gabidolla and
/// Zharmagambetov, "Forest Alternating Optimization", section 4. Two classes with the same operations: by rows, or by leaves.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "spinney/convex.hpp"
#include "spinney/leaf_design.hpp"
#include "spinney/parallel.hpp"

namespace spinney {

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

/// The residual r = y - F(x) by rows, where F is the sum over trees of their leaves [F, eq. (5)].
class RowResidual {
  public:
    RowResidual(const LeafDesign& design, const LeafList& list, std::span<const double> targets)
        : design_(design), list_(list), targets_(targets), rest_(targets.size()), sums_(design.n_leaves),
          moves_(design.n_leaves) {}

    void set(std::span<const double> values) {
        add_up(design_, values, 1, rest_, 1);
        for (std::size_t n = 0; n < rest_.size(); ++n) rest_[n] = targets_[n] - rest_[n];
    }

    /// The least value of [F, eq. (6)] over one tree's leaves after the other's: a soft thresholding of labels
    /// [F, section 3], here on what the other trees leave over.
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
        design_.visit(design_.n_trees - 1, [&](auto last, std::size_t first) {
            const double* moves = moves_.data() + first;
            for (std::size_t n = 0; n < rest_.size(); ++n) rest_[n] -= moves[last[n]];
        });
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
        std::visit([&](auto all) { pass(t, all); }, design_.leaves);
    }
    template <class Number>
    void pass(std::size_t t, std::span<const Number> all) {
        const std::size_t n_rows = rest_.size();
        const Number* mine = all.data() + t * n_rows;
        double* sums = sums_.data() + design_.first(t);
        if (t == 0) {
            for (std::size_t n = 0; n < n_rows; ++n) sums[mine[n]] += design_.weights[n] * rest_[n];
            return;
        }
        const Number* before = mine - n_rows;
        const double* moves = moves_.data() + design_.first(t - 1);
        for (std::size_t n = 0; n < n_rows; ++n) {
            rest_[n] -= moves[before[n]];
            sums[mine[n]] += design_.weights[n] * rest_[n];
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

/// The residual by its sums over leaves, A'Wr, which the normal matrix A'WA keeps up to date.
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

    /// The least value of [F, eq. (6)] over one leaf after the other.
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

}  // namespace spinney
