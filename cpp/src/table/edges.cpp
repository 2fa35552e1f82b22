#include "spinney/table/edges.hpp"

#include <stdexcept>
#include <string>

namespace spinney {
namespace {

/// A float t with low <= t < high, halfway between them if there is one.
float between(float low, float high) {
    const auto middle = static_cast<float>(0.5 * (static_cast<double>(low) + static_cast<double>(high)));
    return middle < high ? middle : low;
}

}  // namespace

std::vector<float> thresholds_of(const Sketch& sketch, std::size_t n_bins) {
    std::vector<float> out;
    const std::size_t n_values = sketch.values.size();
    double left = 0.0;  // weight of what is not in a closed bin
    for (double weight : sketch.weights) left += weight;
    double bin = 0.0;
    for (std::size_t i = 0; i + 1 < n_values; ++i) {
        bin += sketch.weights[i];
        // A bin ends where its weight is nearest to an equal share of what is left, so that heavy values get their own.
        const auto n_left = static_cast<double>(n_bins - out.size());
        const bool is_full = n_values <= n_bins || bin + 0.5 * sketch.weights[i + 1] > left / n_left;
        if (!is_full || out.size() + 1 == n_bins) continue;
        // Of a shortened sketch the rank is known at the values that it keeps, not between them.
        const bool has_all_values = sketch.rank_error == 0.0;
        out.push_back(has_all_values ? between(sketch.values[i], sketch.values[i + 1]) : sketch.values[i]);
        left -= bin;
        bin = 0.0;
    }
    return out;
}

Edges find_edges(std::span<const Sketch> sketches, std::span<const std::uint8_t> n_levels, std::size_t n_bins) {
    if (n_bins < 2 || n_bins > max_bins)
        throw std::invalid_argument(std::to_string(n_bins) + " bins are not possible; give 2 to " + std::to_string(max_bins));
    Edges out;
    out.n_levels.assign(n_levels.begin(), n_levels.end());
    for (std::size_t j = 0; j < sketches.size(); ++j) {
        if (n_levels[j] == 0) {
            const auto found = thresholds_of(sketches[j], n_bins);
            out.thresholds.insert(out.thresholds.end(), found.begin(), found.end());
        }
        out.begin.push_back(out.thresholds.size());
    }
    return out;
}

}  // namespace spinney
