/// Best of random directions: differences of two columns (the two-probe forest of co2-forest, section 6.2), or sums of a few
/// columns with random signs (sparse random projections).

#include <algorithm>

#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Columns with +1 or -1.
using Terms = std::vector<std::pair<std::uint32_t, float>>;

/// The hyperplane with these weights in scaled space.
template <Design D>
Hyperplane signed_sum(const GrowSite<D>& site, Terms terms) {
    std::ranges::sort(terms);
    Hyperplane plane;
    for (const auto& [column, sign] : terms) {
        const auto weight = static_cast<float>(site.scaling.inverse_scale[column]);
        if (weight == 0.0F) continue;
        plane.columns.push_back(column);
        plane.weights.push_back(sign * weight);
    }
    return plane;
}

/// A column that is not among the terms yet; there has to be one.
std::uint32_t other_column(std::span<const std::uint32_t> columns, const Terms& terms, Random& random) {
    for (;;) {
        const std::uint32_t column = columns[random.below(static_cast<std::uint32_t>(columns.size()))];
        if (std::ranges::none_of(terms, [&](const auto& term) { return term.first == column; })) return column;
    }
}

/// The best of directions that are drawn at random; what is drawn is said by a derived class.
template <Design D>
class DirectionsRule : public SplitRule<D> {
  public:
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        if (site.columns.size() < 2) return best_axis(site, random);
        Hyperplane best;
        Cut best_cut;
        for (std::size_t k = 0; k < site.n_candidates; ++k) {
            check_stop();
            Hyperplane plane = signed_sum(site, draw(site.columns, random));
            const Cut cut = cut_along(site, plane);
            if (!cut.is_found || (best_cut.is_found && !(cut.cost < best_cut.cost - site.targets.rounding()))) continue;
            best_cut = cut;
            best = std::move(plane);
        }
        return best;
    }

  protected:
    [[nodiscard]] virtual Terms draw(std::span<const std::uint32_t> columns, Random& random) const = 0;
};

template <Design D>
class ProbesRule final : public DirectionsRule<D> {
    Terms draw(std::span<const std::uint32_t> columns, Random& random) const override {
        Terms terms;
        for (const float sign : {1.0F, -1.0F}) terms.emplace_back(other_column(columns, terms, random), sign);
        return terms;
    }
};

template <Design D>
class ProjectionsRule final : public DirectionsRule<D> {
  public:
    explicit ProjectionsRule(std::size_t most_columns) : most_columns_(most_columns) {}

  private:
    Terms draw(std::span<const std::uint32_t> columns, Random& random) const override {
        const std::size_t count = 1 + random.below(static_cast<std::uint32_t>(std::min(most_columns_, columns.size())));
        Terms terms;
        while (terms.size() < count) {
            const std::uint32_t column = other_column(columns, terms, random);
            terms.emplace_back(column, random.below(2) == 0 ? 1.0F : -1.0F);
        }
        return terms;
    }

    std::size_t most_columns_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> probes_rule() {
    return std::make_unique<ProbesRule<D>>();
}

template <Design D>
std::unique_ptr<SplitRule<D>> projections_rule(std::size_t most_columns) {
    return std::make_unique<ProjectionsRule<D>>(most_columns);
}

#define SPINNEY_INSTANTIATE(D)                            \
    template std::unique_ptr<SplitRule<D>> probes_rule(); \
    template std::unique_ptr<SplitRule<D>> projections_rule(std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
