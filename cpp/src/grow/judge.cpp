/// What rows out of the sample say of a split. No paper has it; see docs/algorithms/co2.md.

#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Rows of the node's own mean that a leaf holds before its rows are counted: two rows of a class are no certainty.
constexpr double prior_rows = 0.5;
/// Rows of each class that the node holds before its rows are counted: the logarithm of nothing would be infinite.
constexpr double class_rows = 0.1;

/// Which side of a split a row is on: 0 is left.
template <Design D>
std::vector<std::uint8_t> sides_of(const D& rows, std::span<const std::uint32_t> numbers, const Hyperplane& plane) {
    std::vector<float> scores(numbers.size());
    score_rows(rows, numbers, plane, std::span(scores));
    std::vector<std::uint8_t> sides(numbers.size());
    for (std::size_t i = 0; i < sides.size(); ++i) sides[i] = static_cast<double>(scores[i]) + plane.bias >= 0.0 ? 1 : 0;
    return sides;
}

/// Predictions of one leaf: losses of the classes, or a mean less that of the node.
std::vector<double> leaf_of(const NodeTargets& targets, std::span<const double> sums, double weight) {
    const double unit = targets.total_weight() / static_cast<double>(targets.size());
    const double prior = prior_rows * unit;
    std::vector<double> leaf(sums.begin(), sums.end());
    if (!targets.has_classes()) {
        for (double& value : leaf) value /= weight + prior;
        return leaf;
    }
    const double seen = targets.total_weight() + class_rows * unit * static_cast<double>(leaf.size());
    for (std::size_t k = 0; k < leaf.size(); ++k) {
        const double share = (targets.totals()[k] + class_rows * unit) / seen;
        leaf[k] = std::log(weight + prior) - std::log(leaf[k] + prior * share);
    }
    return leaf;
}

/// Loss of one judge in a leaf.
double loss_in(std::span<const double> leaf, const Targets& targets, const NodeTargets& node, std::uint32_t row) {
    if (node.has_classes()) return leaf[static_cast<std::size_t>(targets.classes[row])];
    double sum = 0.0;
    for (std::size_t k = 0; k < leaf.size(); ++k) {
        const double rest = targets.values[row * leaf.size() + k] - node.means()[k] - leaf[k];
        sum += rest * rest;
    }
    return sum;
}

}  // namespace

template <Design D>
double judged_loss(const GrowSite<D>& site, const Hyperplane& plane) {
    Tally filled = site.targets.tally();
    const auto sides = sides_of(site.rows, site.reach, plane);
    const auto n_right = static_cast<std::size_t>(std::ranges::count(sides, 1));
    if (n_right == 0 || n_right == sides.size()) return std::numeric_limits<double>::infinity();
    check_stop_after(sides.size());
    for (std::size_t i = 0; i < sides.size(); ++i)
        if (sides[i] == 0) site.targets.move(filled, i);
    const std::vector<double> leaves[2] = {leaf_of(site.targets, filled.left(), filled.left_weight()),
                                           leaf_of(site.targets, filled.right(), filled.right_weight())};
    const Judges& judges = site.judges;
    const auto judged = sides_of(site.rows, judges.rows, plane);
    double loss = 0.0;
    for (std::size_t i = 0; i < judged.size(); ++i)
        loss += judges.weights[judges.rows[i]] * loss_in(leaves[judged[i]], *judges.targets, site.targets, judges.rows[i]);
    return loss;
}

#define SPINNEY_INSTANTIATE(D) template double judged_loss(const GrowSite<D>&, const Hyperplane&);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
