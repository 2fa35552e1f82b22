/// Splits by a linear model of two groups, as in Menze et al., "On oblique random forests": ridge regression, linear
/// discriminant analysis or logistic regression on a few columns, then the best cut along it. They know two classes; here two
/// random classes are anchors and the others join the nearer one. Real targets are regressed themselves by ridge.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "cholesky.hpp"
#include "spinney/grow/class_means.hpp"
#include "spinney/padded_rows.hpp"
#include "spinney/parallel.hpp"
#include "spinney/solve_linear.hpp"

namespace spinney {
namespace {

/// Share of the mean variance that keeps the scatter of linear discriminant analysis invertible.
constexpr double least_ridge = 1e-6;

/// Columns that are gathered together: rows are far apart in memory.
constexpr std::size_t columns_at_once = 16;

/// The drawn columns of the node in scaled space, row-major, about their own mean.
struct Block {
    std::size_t n, width;
    std::unique_ptr<double[]> z;  // not a vector: to fill it with zeros first takes long, and nothing could stop it
    Block(std::size_t n_rows, std::size_t n_columns)
        : n(n_rows), width(n_columns), z(std::make_unique_for_overwrite<double[]>(n_rows * n_columns)) {}
    [[nodiscard]] double* row(std::size_t i) { return z.get() + i * width; }
    [[nodiscard]] const double* row(std::size_t i) const { return z.get() + i * width; }
};

template <Design D>
Block gather_block(const GrowSite<D>& site, std::span<const std::uint32_t> columns) {
    Block block(site.reach.size(), columns.size());
    std::vector<float> values(std::min(columns_at_once, block.width) * block.n);
    for (std::size_t c = 0; c < block.width; ++c) {
        const std::size_t place = c % columns_at_once;
        if (place == 0)
            gather_columns(site.rows, site.reach, columns.subspan(c, std::min(columns_at_once, block.width - c)),
                           std::span(values));
        const double inverse = site.scaling.inverse_scale[columns[c]];
        double mean = 0.0;
        for (std::size_t i = 0; i < block.n; ++i) {
            check_stop_at(i);
            block.row(i)[c] = static_cast<double>(values[place * block.n + i]) * inverse;
            mean += site.targets.weight(i) * block.row(i)[c];
        }
        mean /= site.targets.total_weight();
        for (std::size_t i = 0; i < block.n; ++i) block.row(i)[c] -= mean;
    }
    return block;
}

/// Two random classes; each other class joins the nearer one in the drawn columns. +1 or -1 a row.
template <Design D>
std::vector<double> draw_groups(const GrowSite<D>& site, const Block& block, Random& random) {
    const auto labels = labels_of(site);
    const std::size_t n_labels = std::ranges::max(labels) + 1;
    std::vector<double> means(n_labels * block.width), weights(n_labels);
    for (std::size_t i = 0; i < block.n; ++i) {
        check_stop_at(i);
        weights[labels[i]] += site.targets.weight(i);
        for (std::size_t c = 0; c < block.width; ++c)
            means[labels[i] * block.width + c] += site.targets.weight(i) * block.row(i)[c];
    }
    std::vector<std::size_t> present;
    for (std::size_t k = 0; k < n_labels; ++k) {
        if (!(weights[k] > 0.0)) continue;
        present.push_back(k);
        for (std::size_t c = 0; c < block.width; ++c) means[k * block.width + c] /= weights[k];
    }
    if (present.size() < 2) return {};
    random.draw_first(2, std::span(present));
    const auto distance = [&](std::size_t a, std::size_t b) {
        double sum = 0.0;
        for (std::size_t c = 0; c < block.width; ++c)
            sum += std::pow(means[a * block.width + c] - means[b * block.width + c], 2.0);
        return sum;
    };
    std::vector<double> side(n_labels);
    for (std::size_t k : present) side[k] = distance(k, present[1]) < distance(k, present[0]) ? 1.0 : -1.0;
    side[present[0]] = -1.0;
    side[present[1]] = 1.0;
    std::vector<double> groups(block.n);
    for (std::size_t i = 0; i < block.n; ++i) groups[i] = side[labels[i]];
    return groups;
}

/// Solves A x = b for a positive definite A; false if it is not.
bool solve_positive(std::vector<double>& a, std::span<double> b) {
    const std::size_t n = b.size();
    const auto rest = [](double value, const double* x, const double* y, std::size_t size) {
        for (std::size_t l = 0; l < size; ++l) value -= x[l] * y[l];
        return value;
    };
    const auto root = [](std::size_t /*i*/, double& pivot) {
        const bool is_positive = pivot > 0.0;
        pivot = std::sqrt(pivot);
        return is_positive;
    };
    if (!factor_cholesky(a, n, rest, root)) return false;
    substitute_lower(a, 1, b);
    substitute_upper_in_turn(a, b);
    return true;
}

/// Weighted sums over the rows of a block: products of columns (the lower triangle), and of columns with the targets.
struct Scatter {
    std::vector<double> products, slopes;
    double mean_variance = 0.0;  ///< of the columns, times the weight of the rows
};

template <Design D>
Scatter scatter_of(const GrowSite<D>& site, const Block& block, std::span<const double> targets) {
    const std::size_t d = block.width;
    Scatter scatter{std::vector<double>(d * d), std::vector<double>(d)};
    for (std::size_t i = 0; i < block.n; ++i) {
        check_stop_at(i);
        const double weight = site.targets.weight(i);
        const double* z = block.row(i);
        for (std::size_t c = 0; c < d; ++c) {
            scatter.slopes[c] += weight * targets[i] * z[c];
            for (std::size_t e = 0; e <= c; ++e) scatter.products[c * d + e] += weight * z[c] * z[e];
        }
    }
    for (std::size_t c = 0; c < d; ++c) scatter.mean_variance += scatter.products[c * d + c] / static_cast<double>(d);
    return scatter;
}

/// Takes what lies between the means of two groups out of the products, which leaves the scatter within them.
template <Design D>
void remove_between(const GrowSite<D>& site, const Block& block, std::span<const double> groups, Scatter& scatter) {
    const std::size_t d = block.width;
    for (const double side : {-1.0, 1.0}) {
        std::vector<double> sum(d);
        double weight = 0.0;
        for (std::size_t i = 0; i < block.n; ++i) {
            check_stop_at(i);
            if (groups[i] != side) continue;
            weight += site.targets.weight(i);
            for (std::size_t c = 0; c < d; ++c) sum[c] += site.targets.weight(i) * block.row(i)[c];
        }
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t e = 0; e <= c; ++e) scatter.products[c * d + e] -= sum[c] * sum[e] / weight;
    }
}

/// Least squares with `ridge` times the mean variance on the diagonal; empty if that is not positive definite.
std::vector<double> least_squares(Scatter scatter, double ridge) {
    const std::size_t d = scatter.slopes.size();
    for (std::size_t c = 0; c < d; ++c) scatter.products[c * d + c] += ridge * scatter.mean_variance;
    if (!solve_positive(scatter.products, scatter.slopes)) return {};
    return scatter.slopes;
}

/// Logistic regression of the groups on the block.
template <Design D>
std::vector<double> logistic(const GrowSite<D>& site, const Block& block, std::span<const double> groups, double ridge) {
    std::vector<std::int8_t> labels(block.n);
    std::vector<double> weights(block.n);
    double squares = 0.0;
    const double unit =
        site.targets.total_weight() / static_cast<double>(block.n);  // the solver's tolerances are those of counts
    for (std::size_t i = 0; i < block.n; ++i) {
        check_stop_at(i);
        labels[i] = groups[i] > 0.0 ? 1 : -1;
        weights[i] = site.targets.weight(i) / unit;
        for (std::size_t c = 0; c < block.width; ++c) squares += weights[i] * block.row(i)[c] * block.row(i)[c];
    }
    const PaddedRows<float> rows(block.n, block.width, [&](std::size_t i, float* out) {
        for (std::size_t c = 0; c < block.width; ++c) out[c] = static_cast<float>(block.row(i)[c]);
    });
    std::vector<std::uint32_t> numbers(block.n);
    std::iota(numbers.begin(), numbers.end(), 0U);
    LinearOptions options;
    options.ridge = ridge * squares / static_cast<double>(block.width);
    options.max_newton = 10;
    const Scaling scaling(std::vector<double>(block.width), std::vector<double>(block.width, 1.0));
    std::vector<float> w(rows.view().width());
    double bias = 0.0;
    solve_newton(rows.view(), scaling, {numbers, weights}, LogisticLink(labels), options, std::span(w), bias);
    return {w.begin(), w.begin() + static_cast<std::ptrdiff_t>(block.width)};
}

template <Design D>
class LinearRule final : public SplitRule<D> {
  public:
    LinearRule(LinearModel model, double ridge) : model_(model), ridge_(ridge) {}

    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        auto columns = draw_columns(site.columns, site.n_candidates, random);
        std::ranges::sort(columns);
        if (columns.empty()) return {};
        const Block block = gather_block(site, columns);
        const auto w = weights(site, block, random);
        double largest = 0.0;  // weights are taken relative to it: the unit of the targets is to change nothing
        for (double weight : w) largest = std::max(largest, std::fabs(weight));
        if (!(largest > 0.0)) return {};
        Hyperplane plane;
        for (std::size_t c = 0; c < w.size(); ++c) {
            const auto weight = static_cast<float>(w[c] / largest * site.scaling.inverse_scale[columns[c]]);
            if (weight == 0.0F || !std::isfinite(weight)) continue;
            plane.columns.push_back(columns[c]);
            plane.weights.push_back(weight);
        }
        if (plane.is_empty() || !cut_along(site, plane).is_found) return {};
        return plane;
    }

  private:
    [[nodiscard]] std::vector<double> weights(const GrowSite<D>& site, const Block& block, Random& random) const {
        if (model_ == LinearModel::ridge && !site.targets.has_classes()) {
            std::vector<double> sums(block.n);
            for (std::size_t i = 0; i < block.n; ++i) {
                const auto values = site.targets.values(i);
                sums[i] = std::accumulate(values.begin(), values.end(), 0.0);
            }
            return least_squares(scatter_of(site, block, sums), ridge_);
        }
        const std::vector<double> groups = draw_groups(site, block, random);
        if (groups.empty()) return {};
        if (model_ == LinearModel::logistic) return logistic(site, block, groups, ridge_);
        Scatter scatter = scatter_of(site, block, groups);
        if (model_ == LinearModel::ridge) return least_squares(std::move(scatter), ridge_);
        remove_between(site, block, groups, scatter);
        return least_squares(std::move(scatter), least_ridge);
    }

    LinearModel model_;
    double ridge_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> linear_rule(LinearModel model, double ridge) {
    return std::make_unique<LinearRule<D>>(model, ridge);
}

#define SPINNEY_INSTANTIATE(D) template std::unique_ptr<SplitRule<D>> linear_rule(LinearModel, double);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
