/// Splits in random subspaces: "the choice of a subspace need not be the same for all non-terminal nodes of a tree" ([H] Ho,
/// "Random Decision Forests", section 5).

#include <algorithm>

#include "spinney/grow/split_rule.hpp"

namespace spinney {
namespace {

/// The scaling of the drawn columns; the others have no scale, as constant columns have none.
Scaling scaling_of_drawn(const Scaling& scaling, std::span<const std::uint32_t> drawn) {
    std::vector<double> inverse_scale(scaling.inverse_scale.size());
    for (std::uint32_t j : drawn) inverse_scale[j] = scaling.inverse_scale[j];
    return {scaling.mean, std::move(inverse_scale)};
}

template <Design D>
class SubspaceRule final : public SplitRule<D> {
  public:
    explicit SubspaceRule(std::unique_ptr<SplitRule<D>> rule) : rule_(std::move(rule)) {}

    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        if (site.n_candidates >= site.columns.size()) return rule_->find(site, random);
        auto drawn = draw_columns(site.columns, site.n_candidates, random);
        std::ranges::sort(drawn);
        const Scaling scaling = scaling_of_drawn(site.scaling, drawn);
        const GrowSite<D> subspace{site.rows, scaling, site.reach, site.targets, drawn, drawn.size(), site.judges, site.codes};
        return rule_->find(subspace, random);
    }

  private:
    std::unique_ptr<SplitRule<D>> rule_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> in_subspaces(std::unique_ptr<SplitRule<D>> rule) {
    return std::make_unique<SubspaceRule<D>>(std::move(rule));
}

#define SPINNEY_INSTANTIATE(D) template std::unique_ptr<SplitRule<D>> in_subspaces(std::unique_ptr<SplitRule<D>>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
