/// Central axis projection, section 2 of [H] Ho, "Random Decision Forests".

#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/grow/class_means.hpp"

namespace spinney {
namespace {

/// The central axis: the direction from one of the farthest means to the other [H, section 2], with the length at which the two
/// means have scores that differ by 1.
template <Design D>
Hyperplane axis_between(const GrowSite<D>& site, const ClassMeans& means) {
    const auto& a = means.means[means.first];
    const auto& b = means.means[means.second];
    Hyperplane plane;
    for (std::uint32_t j : site.columns) {
        const double inverse = site.scaling.inverse_scale[j];
        const auto weight = static_cast<float>((b[j] - a[j]) * inverse * inverse / means.squared_distance);
        if (weight == 0.0F || !std::isfinite(weight)) continue;
        plane.columns.push_back(j);
        plane.weights.push_back(weight);
    }
    return plane;
}

double score_of(const Hyperplane& plane, std::span<const double> x) {
    double sum = 0.0;
    for (std::size_t k = 0; k < plane.columns.size(); ++k) sum += static_cast<double>(plane.weights[k]) * x[plane.columns[k]];
    return sum;
}

/// Stop of least error, 1 .. n_steps - 1: the sum over the classes of the weight that is not on the side of most of its
/// class [H, section 2]. Of equals the one nearest to the middle. Bin k of a class holds what lies between stops k and k + 1.
std::size_t best_stop(std::span<const double> bins, std::size_t n_labels, std::size_t n_steps, double rounding) {
    std::vector<double> left(n_labels), right(n_labels);
    for (std::size_t bin = 0; bin < n_steps; ++bin)
        for (std::size_t k = 0; k < n_labels; ++k) right[k] += bins[bin * n_labels + k];
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = n_steps / 2;
    const auto off_centre = [&](std::size_t stop) { return stop * 2 > n_steps ? stop * 2 - n_steps : n_steps - stop * 2; };
    for (std::size_t stop = 1; stop < n_steps; ++stop) {
        double error = 0.0;
        for (std::size_t k = 0; k < n_labels; ++k) {
            left[k] += bins[(stop - 1) * n_labels + k];
            right[k] -= bins[(stop - 1) * n_labels + k];
            error += std::min(left[k], right[k]);
        }
        const bool is_equal = std::fabs(error - least) <= rounding;
        if ((error < least && !is_equal) || (is_equal && off_centre(stop) < off_centre(best))) {
            least = error;
            best = stop;
        }
    }
    return best;
}

template <Design D>
class CentralAxisRule final : public SplitRule<D> {
  public:
    explicit CentralAxisRule(std::size_t n_steps) : n_steps_(n_steps) {}
    Hyperplane find(const GrowSite<D>& site, Random /*random*/) const override {
        const auto labels = labels_of(site);
        return central_axis(site, labels, class_means(site, labels), n_steps_);
    }

  private:
    std::size_t n_steps_;
};

}  // namespace

template <Design D>
Hyperplane central_axis(const GrowSite<D>& site, std::span<const std::size_t> labels, const ClassMeans& means,
                        std::size_t n_steps) {
    if (!(means.squared_distance > 0.0 && std::isfinite(means.squared_distance))) return {};
    // [H, section 2]: all points are projected onto the line, and the segment between the means is searched at a fixed step.
    Hyperplane plane = axis_between(site, means);
    if (plane.is_empty()) return {};
    std::vector<float> scores(site.reach.size());
    score_rows(site.rows, site.reach, plane, std::span(scores));
    const double from = score_of(plane, means.means[means.first]);
    const double to = score_of(plane, means.means[means.second]);
    const double step = (to - from) / static_cast<double>(n_steps);
    if (!(step > 0.0)) return {};
    const std::size_t n_labels = means.labels.back() + 1;
    std::vector<double> bins(n_steps * n_labels);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double place = std::clamp((static_cast<double>(scores[i]) - from) / step, 0.0, static_cast<double>(n_steps - 1));
        bins[static_cast<std::size_t>(place) * n_labels + labels[i]] += site.targets.weight(i);
    }
    plane.bias = -(from + step * static_cast<double>(best_stop(bins, n_labels, n_steps, site.targets.weight_rounding())));
    return plane;
}

template <Design D>
std::unique_ptr<SplitRule<D>> central_axis_rule(std::size_t n_steps) {
    return std::make_unique<CentralAxisRule<D>>(n_steps);
}

#define SPINNEY_INSTANTIATE(D)                                                                                          \
    template Hyperplane central_axis(const GrowSite<D>&, std::span<const std::size_t>, const ClassMeans&, std::size_t); \
    template std::unique_ptr<SplitRule<D>> central_axis_rule(std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
