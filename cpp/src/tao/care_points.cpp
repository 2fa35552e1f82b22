/// [B] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees"; [S] Gabidolla, Zharmagambetov and
/// Carreira-Perpiñán, "Improved multiclass AdaBoost"; [F] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Forest Alternating
/// Optimization".

#include "spinney/tao/care_points.hpp"

#include <algorithm>
#include <cmath>

#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"

namespace spinney {
namespace {

/// A smaller difference of two losses, as a share of them, is rounding, and says nothing of where a row should go. So is any
/// difference of losses that are themselves the squares of rounding errors.
constexpr double least_share = 1e-12;
constexpr double least_loss = 1e-24;

/// The first of two equals is taken, whatever the rounding: a row of weight k must do as k copies.
constexpr double equal_share = 1e-9;

/// Which child of a node is idle; the lighter one if no care point wants either.
bool is_left_idle(const ReducedSet& set, const CarePoints& care, const Targets& targets) {
    if (!care.rows.empty()) return care.labels[0] > 0;
    double on_left = 0.0;
    double on_right = 0.0;
    for (std::uint32_t row : set.rows) (set.is_right(row) ? on_right : on_left) += targets.weights[row];
    return on_left <= (1.0 + equal_share) * on_right;
}

}  // namespace

bool CarePoints::are_one_sided() const {
    return std::ranges::all_of(labels, [&](std::int8_t label) { return label == labels[0]; });
}

CarePoints find_care_points(const ReducedSet& set, const Targets& targets) {
    CarePoints care;
    care.rows.reserve(set.rows.size());
    care.labels.reserve(set.rows.size());
    care.weights.reserve(set.rows.size());
    for (std::size_t i = 0; i < set.rows.size(); ++i) {
        check_stop_at(i);
        const std::uint32_t row = set.rows[i];
        const double gain = set.loss_of[row] - set.other_loss[row];  // of changing sides
        const double larger = std::max(set.loss_of[row], set.other_loss[row]);
        if (std::fabs(gain) <= least_share * larger + least_loss) continue;
        // l(right) and l(left) of [S] eq. (3) become the pseudo-label of [S] eq. (4), the child of lower loss, and the weight
        // of a wrong answer to it: w_n for the 0/1 loss there, w_n |l(right) - l(left)| for any loss ([F] section 3).
        care.rows.push_back(row);
        care.labels.push_back(set.is_right(row) == (gain < 0.0) ? 1 : -1);
        care.weights.push_back(std::fabs(gain) * targets.weights[row]);
    }
    return care;
}

bool relabel_idle_child(const ReducedSet& set, const CarePoints& care, const Targets& targets, Leaves& leaves) {
    const bool is_left = is_left_idle(set, care, targets);
    const auto is_in_idle_child = [&](std::uint32_t row) { return set.is_right(row) != is_left; };
    // By the rows of each class in the child that is not idle.
    const std::vector<double> lost = sums_by_block(set.rows, targets.n_outputs, [&](std::size_t i, std::span<double> part) {
        const std::uint32_t row = set.rows[i];
        part[static_cast<std::size_t>(targets.classes[row])] +=
            targets.weights[row] * (is_in_idle_child(row) ? set.other_loss[row] : set.loss_of[row]);
    });
    const double most = std::ranges::max(lost);
    if (!(most > 0.0)) return false;
    const auto is_most = [&](double loss) { return loss >= (1.0 - equal_share) * most; };
    const auto label = static_cast<std::size_t>(std::ranges::find_if(lost, is_most) - lost.begin());

    const std::size_t first = is_left ? set.first_leaf : set.middle;
    const std::size_t end = is_left ? set.middle : set.end_leaf;
    for (std::size_t leaf = first; leaf < end; ++leaf) leaves.set_label(leaf, label);
    for (std::uint32_t row : set.rows) (is_in_idle_child(row) ? set.loss_of : set.other_loss)[row] = leaves.loss(row, first);
    return true;
}

}  // namespace spinney
