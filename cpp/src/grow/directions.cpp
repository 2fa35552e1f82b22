/// Best of random directions: differences of two columns (the two-probe forest of co2-forest, section 6.2), or sums of a few
/// columns with random signs (sparse random projections).

#include <algorithm>

#include "spinney/grow/split_rule.hpp"

namespace spinney {
namespace {

/// The hyperplane with weights +1 or -1, in scaled space, on some columns.
template <Design D>
Hyperplane signed_sum(const GrowSite<D>& site, std::vector<std::pair<std::uint32_t, float>> terms) {
    std::ranges::sort(terms);
    Hyperplane plane;
    for (const auto& [column, sign] : terms) {
        plane.columns.push_back(column);
        plane.weights.push_back(sign * static_cast<float>(site.scaling.inverse_scale[column]));
    }
    return plane;
}

template <Design D>
class DirectionsRule final : public SplitRule<D> {
public:
    DirectionsRule(std::size_t most_columns, bool is_difference) : most_columns_(most_columns), is_difference_(is_difference) {}

    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        if (site.columns.size() < 2) return best_axis(site, random);
        Hyperplane best;
        Cut best_cut;
        for (std::size_t k = 0; k < site.n_candidates && !site.is_stopped(); ++k) {
            Hyperplane plane = signed_sum(site, draw(site, random));
            const Cut cut = cut_along(site, plane);
            if (!cut.is_found || (best_cut.is_found && !(cut.cost < best_cut.cost - site.targets.rounding()))) continue;
            best_cut = cut;
            best = std::move(plane);
        }
        return best;
    }

private:
    [[nodiscard]] std::vector<std::pair<std::uint32_t, float>> draw(const GrowSite<D>& site, Random& random) const {
        const std::size_t most = std::min(most_columns_, site.columns.size());
        const std::size_t count = is_difference_ ? 2 : 1 + random.below(static_cast<std::uint32_t>(most));
        std::vector<std::pair<std::uint32_t, float>> terms;
        while (terms.size() < count) {
            const std::uint32_t column = site.columns[random.below(static_cast<std::uint32_t>(site.columns.size()))];
            if (std::ranges::any_of(terms, [&](const auto& term) { return term.first == column; })) continue;
            const bool is_plus = is_difference_ ? terms.empty() : random.below(2) == 0;
            terms.emplace_back(column, is_plus ? 1.0F : -1.0F);
        }
        return terms;
    }

    std::size_t most_columns_;
    bool is_difference_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> probes_rule() {
    return std::make_unique<DirectionsRule<D>>(2, true);
}

template <Design D>
std::unique_ptr<SplitRule<D>> projections_rule(std::size_t most_columns) {
    return std::make_unique<DirectionsRule<D>>(most_columns, false);
}

template std::unique_ptr<SplitRule<DenseRows>> probes_rule();
template std::unique_ptr<SplitRule<ByteRows>> probes_rule();
template std::unique_ptr<SplitRule<SparseRows>> probes_rule();
template std::unique_ptr<SplitRule<DenseRows>> projections_rule(std::size_t);
template std::unique_ptr<SplitRule<ByteRows>> projections_rule(std::size_t);
template std::unique_ptr<SplitRule<SparseRows>> projections_rule(std::size_t);

}  // namespace spinney
