#include "spinney/table/split.hpp"

#include <algorithm>
#include <utility>

namespace spinney {
namespace {

/// What one side of a cut holds.
struct Side {
    GradientSum sum;
    std::uint64_t n_rows = 0;

    void add(const GradientSum& bin, std::uint64_t count) {
        sum += bin;
        n_rows += count;
    }
    [[nodiscard]] Side without(const Side& other) const {
        Side rest = *this;
        rest.sum -= other.sum;
        rest.n_rows -= other.n_rows;
        return rest;
    }
    [[nodiscard]] bool is_allowed(const CutRules& rules) const {
        return n_rows > 0 && n_rows >= rules.min_rows && sum.hessian > 0.0 && sum.hessian >= rules.min_hessian;
    }
    /// Twice what the best value of a leaf gains: G^2 / (H + l2).
    [[nodiscard]] double score(double l2) const { return sum.gradient * sum.gradient / (sum.hessian + l2); }
};

/// The better of `best` and a cut with these rows on the left.
void consider(const Side& left, const Side& all, double score_before, const CutRules& rules, ColumnCut& best, std::size_t bin,
              bool is_missing_left) {
    const Side right = all.without(left);
    if (!left.is_allowed(rules) || !right.is_allowed(rules)) return;
    const double gain = left.score(rules.l2) + right.score(rules.l2) - score_before;
    if (gain > best.gain) best = {gain, bin, is_missing_left, left.sum, left.n_rows};
}

}  // namespace

ColumnCut best_cut(std::span<const GradientSum> bins, std::span<const std::uint32_t> counts, const CutRules& rules) {
    const std::size_t n_bins = bins.size() - 1;
    const Side missing{bins[n_bins], counts[n_bins]};
    Side all;
    for (std::size_t k = 0; k <= n_bins; ++k) all.add(bins[k], counts[k]);
    ColumnCut best;
    if (!(all.sum.hessian > 0.0)) return best;
    const double score_before = all.score(rules.l2);
    Side left;
    for (std::size_t k = 0; k < n_bins; ++k) {
        if (counts[k] == 0) continue;  // the same cut as the one before
        left.add(bins[k], counts[k]);
        consider(left, all, score_before, rules, best, k, false);
        if (missing.n_rows == 0) continue;
        Side with_missing = left;
        with_missing.add(missing.sum, missing.n_rows);
        consider(with_missing, all, score_before, rules, best, k, true);
    }
    if (missing.n_rows == 0 && best.gain > 0.0) best.is_missing_left = 2 * best.n_left >= all.n_rows;
    return best;
}

}  // namespace spinney
