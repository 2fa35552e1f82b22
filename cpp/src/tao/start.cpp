#include "spinney/tao/start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Draws from a group whose mean stands for that of the group: enough for a direction, and cheap beside a sweep.
constexpr std::size_t n_draws = 64;

/// A threshold with half of the weight below it, halfway to the next larger value.
double balanced_threshold(std::vector<std::pair<double, double>> scored) {
    std::ranges::sort(scored);
    double total = 0.0;
    for (const auto& [score, weight] : scored) total += weight;
    double below = 0.0;
    for (std::size_t i = 0; i < scored.size(); ++i) {
        below += scored[i].second;
        if (below < 0.5 * total) continue;
        const double here = scored[i].first;
        for (std::size_t next = i + 1; next < scored.size(); ++next)
            if (scored[next].first > here) return 0.5 * (here + scored[next].first);
        return here;
    }
    return 0.0;
}

template <Design D>
double balanced_bias(const StartSite<D>& site, std::span<const float> w) {
    std::vector<std::pair<double, double>> scored;
    scored.reserve(site.reach.size());
    for (std::size_t i = 0; i < site.reach.size(); ++i) {
        check_stop_at(i);
        site.rows.prefetch(site.reach[std::min(i + 1, site.reach.size() - 1)]);
        scored.emplace_back(site.rows.dot(site.reach[i], w.data()), site.targets.weights[site.reach[i]]);
    }
    return -balanced_threshold(std::move(scored));
}

template <Design D>
void draw_direction(const StartSite<D>& site, const Start& start, Random& random, std::span<float> w, double& bias) {
    auto columns = site.columns;
    if (start.is_axis) columns = columns.subspan(random.below(static_cast<std::uint32_t>(columns.size())), 1);
    double centre = 0.0;
    for (std::uint32_t j : columns) {
        w[j] = static_cast<float>(start.length * random.normal() * site.scaling.inverse_scale[j]);
        centre += static_cast<double>(w[j]) * site.scaling.mean[j];
    }
    bias = start.length * random.normal() - centre;  // drawn like a weight, in standardised space
}

/// The row at which the weights, summed along the rows, pass a share of their total. So a row of weight 2 is drawn as often
/// as two rows of weight 1 in its place.
std::uint32_t row_at(double share, std::span<const std::uint32_t> rows, std::span<const double> weights) {
    double total = 0.0;
    for (std::uint32_t row : rows) total += weights[row];
    double passed = 0.0;
    for (std::uint32_t row : rows) {
        passed += weights[row];
        if (passed > share * total) return row;
    }
    return rows.back();
}

/// Two groups of rows, which a supervised start separates.
using Groups = std::array<std::vector<std::uint32_t>, 2>;

/// A fair coin decides for each class, at least one class on each side. Rows of a single class are all in one group.
Groups group_by_class(std::span<const std::uint32_t> reach, const Targets& targets, Random& random) {
    const auto class_of = [&](std::uint32_t row) { return static_cast<std::size_t>(targets.classes[row]); };
    std::vector<std::uint8_t> is_present(targets.n_outputs);
    for (std::uint32_t row : reach) is_present[class_of(row)] = 1;
    std::vector<std::size_t> present;
    for (std::size_t k = 0; k < is_present.size(); ++k)
        if (is_present[k] != 0) present.push_back(k);

    std::vector<std::size_t> side(targets.n_outputs);
    std::size_t n_right = 0;
    for (std::size_t k : present) n_right += side[k] = static_cast<std::size_t>(random.uniform() < 0.5);
    if (present.size() > 1 && n_right % present.size() == 0) {
        const std::size_t k = present[random.below(static_cast<std::uint32_t>(present.size()))];
        side[k] = 1 - side[k];
    }
    Groups groups;
    for (std::uint32_t row : reach) groups[side[class_of(row)]].push_back(row);
    return groups;
}

/// Rows whose target, seen along a random direction of the outputs, exceeds that of a random row, and the others.
Groups group_by_value(std::span<const std::uint32_t> reach, const Targets& targets, Random& random) {
    std::vector<double> direction(targets.n_outputs);
    for (double& part : direction) part = random.normal();
    const auto seen = [&](std::uint32_t row) {
        check_stop_at(row);  // sorting by it takes long
        const double* values = targets.values.data() + row * direction.size();
        return std::inner_product(direction.begin(), direction.end(), values, 0.0);
    };
    // In the order of their targets, not of the table: it does not matter how rows are shuffled.
    std::vector<std::uint32_t> ordered(reach.begin(), reach.end());
    std::ranges::stable_sort(ordered, {}, seen);
    const double threshold = seen(row_at(random.uniform(), ordered, targets.weights));
    const bool is_largest = std::ranges::none_of(reach, [&](std::uint32_t row) { return seen(row) > threshold; });
    Groups groups;
    for (std::uint32_t row : ordered) {
        const bool is_right = is_largest ? seen(row) >= threshold : seen(row) > threshold;
        groups[is_right ? 1 : 0].push_back(row);
    }
    return groups;
}

/// Rows alike in their targets: two of them, half of the weight apart, stand for two kinds.
Groups pair_of(std::span<const std::uint32_t> reach, std::span<const double> weights, Random& random) {
    const double share = 0.5 * random.uniform();
    return {{{row_at(share, reach, weights)}, {row_at(share + 0.5, reach, weights)}}};
}

/// Mean of draws from a group, evenly along its weight; of all its rows if it weighs no more than as many of its lightest
/// rows. The weight decides, in a unit of its own, so that a row of weight 2 counts like two rows of weight 1.
template <Design D>
std::vector<double> sampled_mean(const D& rows, std::span<const std::uint32_t> group, std::span<const double> weights,
                                 Random& random) {
    double total = 0.0;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t row : group) {
        total += weights[row];
        least = std::min(least, weights[row]);
    }
    const double step = total / static_cast<double>(n_draws);
    const double offset = random.uniform();
    std::vector<double> mean(rows.n_features);
    if (step <= least) {
        for (std::uint32_t row : group)
            rows.for_each(row, [&](std::size_t j, float x) { mean[j] += weights[row] / total * static_cast<double>(x); });
        return mean;
    }
    std::size_t n_drawn = 0;
    double passed = 0.0;
    for (std::uint32_t row : group) {
        passed += weights[row];
        const std::size_t before = n_drawn;
        while (n_drawn < n_draws && (static_cast<double>(n_drawn) + offset) * step < passed) ++n_drawn;
        if (n_drawn == before) continue;
        const auto times = static_cast<double>(n_drawn - before);
        rows.for_each(row, [&](std::size_t j, float x) { mean[j] += times * static_cast<double>(x); });
    }
    for (double& m : mean) m /= static_cast<double>(n_drawn);  // at least 1: the offset is below the total
    return mean;
}

/// The hyperplane halfway between two points, across the line that joins them in standardised space. False if they meet.
template <Design D>
bool bisect(const StartSite<D>& site, std::span<const double> left, std::span<const double> right, const Start& start,
            std::span<float> w, double& bias) {
    const auto& inverse = site.scaling.inverse_scale;
    const auto apart = [&](std::uint32_t j) { return (right[j] - left[j]) * inverse[j]; };
    auto columns = site.columns;
    if (start.is_axis) {
        const auto farthest = std::ranges::max_element(columns, {}, [&](std::uint32_t j) { return std::fabs(apart(j)); });
        columns = {farthest, 1};
    }
    double squared = 0.0;
    for (std::uint32_t j : columns) squared += apart(j) * apart(j);
    if (!(squared > 0.0 && std::isfinite(squared))) return false;
    const double factor = start.length * std::sqrt(static_cast<double>(columns.size()) / squared);
    bias = 0.0;
    for (std::uint32_t j : columns) {
        w[j] = static_cast<float>(factor * apart(j) * inverse[j]);
        bias -= static_cast<double>(w[j]) * (0.5 * right[j] + 0.5 * left[j]);
    }
    return true;
}

template <Design D>
bool separate_groups(const StartSite<D>& site, const Start& start, Random& random, std::span<float> w, double& bias) {
    if (site.reach.empty()) return false;
    Groups groups = site.targets.classes.empty() ? group_by_value(site.reach, site.targets, random)
                                                 : group_by_class(site.reach, site.targets, random);
    if (groups[0].empty() || groups[1].empty()) {
        if (site.targets.classes.empty()) return false;
        groups = pair_of(site.reach, site.targets.weights, random);
    }
    const auto left = sampled_mean(site.rows, groups[0], site.targets.weights, random);
    const auto right = sampled_mean(site.rows, groups[1], site.targets.weights, random);
    return bisect(site, left, right, start, w, bias);
}

}  // namespace

template <Design D>
void draw_hyperplane(const StartSite<D>& site, const Start& start, Random& random, std::span<float> w, double& bias) {
    if (start.kind == StartKind::supervised && separate_groups(site, start, random, w, bias)) return;
    draw_direction(site, start, random, w, bias);
    if (start.kind != StartKind::random) bias = balanced_bias(site, w);
}

#define SPINNEY_INSTANTIATE(D) \
    template void draw_hyperplane(const StartSite<D>&, const Start&, Random&, std::span<float>, double&);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
