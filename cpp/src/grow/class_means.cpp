/// The two classes with which both of Ho's splits begin: [H] Ho, "Random Decision Forests", section 2.

#include "spinney/grow/class_means.hpp"

#include <algorithm>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

template <DenseDesign D>
void add_row(const D& rows, std::size_t n, double weight, std::vector<double>& sum) {
    const auto* x = rows.row(n).data();
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * static_cast<double>(x[j]);
}
template <SparseDesign D>
void add_row(const D& rows, std::size_t n, double weight, std::vector<double>& sum) {
    rows.for_each(n, [&](std::size_t j, float x) { sum[j] += weight * static_cast<double>(x); });
}

}  // namespace

template <Design D>
std::vector<std::size_t> labels_of(const GrowSite<D>& site) {
    std::vector<std::size_t> labels(site.reach.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (site.targets.has_classes()) {
            labels[i] = site.targets.label(i);
            continue;
        }
        // Along the diagonal of the outputs, which are centred.
        double sum = 0.0;
        for (double value : site.targets.values(i)) sum += value;
        labels[i] = sum >= 0.0 ? 1 : 0;
    }
    return labels;
}

/// "Euclidean distance" of [H, section 2], in scaled space: columns have any unit.
template <Design D>
double squared_distance(const GrowSite<D>& site, std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::uint32_t j : site.columns) {
        const double apart = (a[j] - b[j]) * site.scaling.inverse_scale[j];
        sum += apart * apart;
    }
    return sum;
}

template <Design D>
ClassMeans class_means(const GrowSite<D>& site, std::span<const std::size_t> labels) {
    const std::size_t n_labels = std::ranges::max(labels) + 1;
    std::vector<std::vector<double>> sums(n_labels);
    std::vector<double> weights(n_labels);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        check_stop_at(i);
        auto& sum = sums[labels[i]];
        sum.resize(site.rows.n_features);
        weights[labels[i]] += site.targets.weight(i);
        add_row(site.rows, site.reach[i], site.targets.weight(i), sum);
    }
    ClassMeans found;
    for (std::size_t label = 0; label < n_labels; ++label) {
        if (sums[label].empty()) continue;
        for (double& sum : sums[label]) sum /= weights[label];
        found.labels.push_back(label);
        found.means.push_back(std::move(sums[label]));
    }
    // "the two classes whose means are farthest apart" [H, section 2]; of equals the first pair.
    for (std::size_t a = 0; a < found.means.size(); ++a)
        for (std::size_t b = a + 1; b < found.means.size(); ++b) {
            const double distance = squared_distance(site, std::span<const double>(found.means[a]), found.means[b]);
            if (distance > found.squared_distance) {
                found.squared_distance = distance;
                found.first = a;
                found.second = b;
            }
        }
    return found;
}

#define SPINNEY_INSTANTIATE(D)                                                         \
    template std::vector<std::size_t> labels_of(const GrowSite<D>&);                   \
    template ClassMeans class_means(const GrowSite<D>&, std::span<const std::size_t>); \
    template double squared_distance(const GrowSite<D>&, std::span<const double>, std::span<const double>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
