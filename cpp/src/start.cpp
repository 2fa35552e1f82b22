#include "spinney/start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace spinney {
namespace {

/// Rows of a group whose mean stands for that of the group: enough for a direction, and cheap beside a sweep.
constexpr std::size_t most_sampled = 64;

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
        site.rows.prefetch(site.reach[std::min(i + 1, site.reach.size() - 1)]);
        scored.emplace_back(site.rows.dot(site.reach[i], w.data()), site.targets.weights[site.reach[i]]);
    }
    return -balanced_threshold(std::move(scored));
}

template <Design D>
void draw_direction(const StartSite<D>& site, double length, Random& random, std::span<float> w, double& bias) {
    double centre = 0.0;
    for (std::uint32_t j : site.columns) {
        w[j] = static_cast<float>(length * random.normal() * site.scaling.inverse_scale[j]);
        centre += static_cast<double>(w[j]) * site.scaling.mean[j];
    }
    bias = length * random.normal() - centre;  // drawn like a weight, in standardised space
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
        const double* values = targets.values.data() + row * direction.size();
        return std::inner_product(direction.begin(), direction.end(), values, 0.0);
    };
    const double threshold = seen(reach[random.below(static_cast<std::uint32_t>(reach.size()))]);
    const bool is_largest = std::ranges::none_of(reach, [&](std::uint32_t row) { return seen(row) > threshold; });
    Groups groups;
    for (std::uint32_t row : reach) {
        const bool is_right = is_largest ? seen(row) >= threshold : seen(row) > threshold;
        groups[is_right ? 1 : 0].push_back(row);
    }
    return groups;
}

/// Rows alike in their targets: two of them stand for two kinds.
Groups pair_of(std::span<const std::uint32_t> reach, Random& random) {
    const auto count = static_cast<std::uint32_t>(reach.size());
    const std::uint32_t first = random.below(count);
    const std::uint32_t second = (first + 1 + random.below(count - 1)) % count;
    return {{{reach[first]}, {reach[second]}}};
}

/// Rows in proportion to their weights, evenly along the group; a heavy row may come several times.
std::vector<std::uint32_t> sample_by_weight(std::span<const std::uint32_t> group, std::span<const double> weights, Random& random) {
    double total = 0.0;
    for (std::uint32_t row : group) total += weights[row];
    const std::size_t count = std::min(group.size(), most_sampled);
    const double step = total / static_cast<double>(count);
    std::vector<std::uint32_t> sample;
    double next = step * random.uniform();
    double passed = 0.0;
    for (std::uint32_t row : group) {
        passed += weights[row];
        for (; next < passed && sample.size() < count; next += step) sample.push_back(row);
    }
    if (sample.empty()) sample.push_back(group.back());  // rounding, or weights that vanish in their sum
    return sample;
}

template <Design D>
std::vector<double> mean_of(const D& rows, std::span<const std::uint32_t> numbers) {
    std::vector<double> mean(rows.n_features);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        rows.prefetch(numbers[std::min(i + 1, numbers.size() - 1)]);
        rows.for_each(numbers[i], [&](std::size_t j, float x) { mean[j] += static_cast<double>(x); });
    }
    for (double& m : mean) m /= static_cast<double>(numbers.size());
    return mean;
}

/// The hyperplane halfway between two points, across the line that joins them in standardised space. False if they meet.
template <Design D>
bool bisect(const StartSite<D>& site, std::span<const double> left, std::span<const double> right, double length,
            std::span<float> w, double& bias) {
    const auto& inverse = site.scaling.inverse_scale;
    double squared = 0.0;
    for (std::uint32_t j : site.columns) {
        const double apart = (right[j] - left[j]) * inverse[j];
        squared += apart * apart;
    }
    if (!(squared > 0.0 && std::isfinite(squared))) return false;
    const double factor = length * std::sqrt(static_cast<double>(site.columns.size()) / squared);
    bias = 0.0;
    for (std::uint32_t j : site.columns) {
        w[j] = static_cast<float>(factor * ((right[j] - left[j]) * inverse[j]) * inverse[j]);
        bias -= static_cast<double>(w[j]) * (0.5 * right[j] + 0.5 * left[j]);
    }
    return true;
}

template <Design D>
bool separate_groups(const StartSite<D>& site, double length, Random& random, std::span<float> w, double& bias) {
    if (site.reach.size() < 2) return false;
    Groups groups = site.targets.classes.empty() ? group_by_value(site.reach, site.targets, random)
                                                 : group_by_class(site.reach, site.targets, random);
    if (groups[0].empty() || groups[1].empty()) groups = pair_of(site.reach, random);
    const auto mean_of_group = [&](std::size_t group) {
        return mean_of(site.rows, sample_by_weight(groups[group], site.targets.weights, random));
    };
    const auto left = mean_of_group(0);
    const auto right = mean_of_group(1);
    return bisect(site, left, right, length, w, bias);
}

}  // namespace

template <Design D>
void draw_hyperplane(const StartSite<D>& site, StartKind kind, double length, Random& random, std::span<float> w, double& bias) {
    if (kind == StartKind::supervised && separate_groups(site, length, random, w, bias)) return;
    draw_direction(site, length, random, w, bias);
    if (kind != StartKind::random) bias = balanced_bias(site, w);
}

template void draw_hyperplane(const StartSite<DenseRows>&, StartKind, double, Random&, std::span<float>, double&);
template void draw_hyperplane(const StartSite<ByteRows>&, StartKind, double, Random&, std::span<float>, double&);
template void draw_hyperplane(const StartSite<SparseRows>&, StartKind, double, Random&, std::span<float>, double&);

}  // namespace spinney
