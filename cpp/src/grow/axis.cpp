#include <algorithm>
#include <array>

#include "grow/code_search.hpp"
#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Columns that are read together: rows are far apart in memory.
constexpr std::size_t columns_at_once = 16;
/// Bytes of so many rows are counted by value, those of fewer sorted.
constexpr std::size_t least_counted = 512;

struct BestColumn {
    std::uint32_t column = 0;
    Cut cut;
};

void keep_better(std::uint32_t column, const Cut& cut, double rounding, BestColumn& best) {
    if (cut.is_found && (!best.cut.is_found || cut.cost < best.cut.cost - rounding)) best = {column, cut};
}

template <Design D>
void try_columns(const GrowSite<D>& site, std::span<const std::uint32_t> columns, BestColumn& best) {
    const std::size_t n = site.reach.size();
    const double rounding = site.targets.rounding();
    if constexpr (is_bytes<D>) {
        if (n >= least_counted) {
            std::vector<std::uint8_t> bytes(columns.size() * n);
            for (std::size_t i = 0; i < n; ++i) {
                check_stop_at(i);
                const std::uint8_t* x = site.rows.row(site.reach[i]).data();
                for (std::size_t c = 0; c < columns.size(); ++c) bytes[c * n + i] = x[columns[c]];
            }
            for (std::size_t c = 0; c < columns.size(); ++c)
                keep_better(columns[c], site.targets.best_cut(std::span<const std::uint8_t>(bytes.data() + c * n, n)), rounding,
                            best);
            return;
        }
    }
    std::vector<float> values(columns.size() * n);
    gather_columns(site.rows, site.reach, columns, std::span(values));
    for (std::size_t c = 0; c < columns.size(); ++c)
        keep_better(columns[c], site.targets.best_cut(std::span<const float>(values.data() + c * n, n)), rounding, best);
}

template <Design D>
class AxisRule final : public SplitRule<D> {
  public:
    [[nodiscard]] bool searches_columns() const override { return true; }
    Hyperplane find(const GrowSite<D>& site, Random random) const override { return best_axis(site, random); }
};

}  // namespace

std::vector<std::uint32_t> draw_columns(std::span<const std::uint32_t> columns, std::size_t count, Random& random) {
    std::vector<std::uint32_t> drawn(columns.begin(), columns.end());
    count = std::min(count, drawn.size());
    random.draw_first(count, std::span(drawn));
    drawn.resize(count);
    return drawn;
}

template <Design D>
Hyperplane best_axis(const GrowSite<D>& site, Random& random) {
    if constexpr (!is_sparse<D>)
        if (site.codes != nullptr) return best_coded_axis(site, random);
    const auto drawn = draw_columns(site.columns, site.columns.size(), random);
    const std::size_t n_wanted = std::min(site.n_candidates, drawn.size());
    BestColumn best;
    for (std::size_t first = 0; first < drawn.size() && (first < n_wanted || !best.cut.is_found);) {
        check_stop();
        const std::size_t end = first < n_wanted ? n_wanted : drawn.size();
        const std::size_t count = std::min(columns_at_once, end - first);
        try_columns(site, std::span(drawn).subspan(first, count), best);
        first += count;
    }
    if (!best.cut.is_found) return {};
    return {{best.column}, {1.0F}, -static_cast<double>(best.cut.threshold)};
}

template <Design D>
Cut cut_along(const GrowSite<D>& site, Hyperplane& plane) {
    std::vector<float> scores(site.reach.size());
    score_rows(site.rows, site.reach, plane, std::span(scores));
    const Cut cut = site.targets.best_cut(std::span<const float>(scores));
    if (cut.is_found) plane.bias = -static_cast<double>(cut.threshold);
    return cut;
}

template <Design D>
std::unique_ptr<SplitRule<D>> axis_rule() {
    return std::make_unique<AxisRule<D>>();
}

#define SPINNEY_INSTANTIATE(D)                                  \
    template Hyperplane best_axis(const GrowSite<D>&, Random&); \
    template Cut cut_along(const GrowSite<D>&, Hyperplane&);    \
    template std::unique_ptr<SplitRule<D>> axis_rule();
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
