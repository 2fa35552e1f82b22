#include "spinney/grow/grower.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "spinney/grow/sample_codes.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Entries begin .. end of a list that is sorted by nodes.
struct Share {
    std::size_t begin, end;
    [[nodiscard]] std::span<std::uint32_t> of(std::vector<std::uint32_t>& list) const {
        return {list.data() + begin, end - begin};
    }
};

/// A node with its rows and its judges.
struct OpenNode {
    Share members, judges;
};

/// What became of an open node: a leaf, or a split whose left rows come first.
struct Outcome {
    Hyperplane plane;
    std::size_t n_left = 0, n_left_judges = 0;
    std::vector<double> leaf;
    [[nodiscard]] bool is_leaf() const { return plane.is_empty(); }
};

/// Whether no weight overflowed; with extreme columns a rule may go that far.
bool is_finite(const Hyperplane& plane) {
    return std::isfinite(plane.bias) && std::ranges::all_of(plane.weights, [](float w) { return std::isfinite(w); });
}

template <Design D>
class Grower {
  public:
    Grower(const D& rows, const Scaling& scaling, const Targets& targets, const SplitRule<D>& rule, const GrowOptions& options,
           std::span<const double> judge_weights, const TrainingTable* table)
        : rows_(rows), scaling_(scaling), targets_(targets), rule_(rule), options_(options), judge_weights_(judge_weights) {
        for (std::size_t n = 0; n < rows.n_rows; ++n)
            if (targets.weights[n] > 0.0) members_.push_back(static_cast<std::uint32_t>(n));
        for (std::size_t n = 0; n < judge_weights.size(); ++n)
            if (judge_weights[n] > 0.0) judges_.push_back(static_cast<std::uint32_t>(n));
        for (std::size_t j = 0; j < rows.n_features; ++j)
            if (scaling.inverse_scale[j] > 0.0) columns_.push_back(static_cast<std::uint32_t>(j));
        if constexpr (!is_sparse<D>)
            if (table != nullptr && rule.searches_columns()) codes_.emplace(table->codes(options.n_threads), columns_, members_);
    }

    GrownTree grow() {
        std::vector<OpenNode> level{{{0, members_.size()}, {0, judges_.size()}}};
        for (std::size_t depth = 0; !level.empty(); ++depth) {
            const std::size_t first_node = tree_.left.size();
            std::vector<Outcome> outcomes(level.size());
            parallel_for(level.size(), options_.n_threads,
                         [&](std::size_t k) { outcomes[k] = visit(level[k], depth, first_node + k); });
            level = record(level, outcomes);
        }
        return std::move(tree_);
    }

  private:
    /// A leaf where all targets are alike, or no split parts them ("the stopping rule" of random-decision-forests section 2 and
    /// co2-forest section 5), or at a limit.
    Outcome visit(const OpenNode& node, std::size_t depth, std::size_t number) {
        const std::span<std::uint32_t> reach = node.members.of(members_);
        Outcome outcome;
        if (is_pure(reach)) {
            outcome.leaf = pure_leaf(reach[0]);
            return outcome;
        }
        const NodeTargets targets(targets_, reach, options_.impurity, options_.min_leaf_weight);
        const bool is_end = targets.is_pure() || reach.size() < options_.min_samples_split ||
                            (options_.max_depth > 0 && depth >= options_.max_depth);
        const std::span<std::uint32_t> judges = node.judges.of(judges_);
        if (!is_end) outcome.n_left = split(reach, targets, judges, number, outcome.plane);
        if (!outcome.is_leaf()) outcome.n_left_judges = part(judges, outcome.plane);
        if (outcome.is_leaf()) outcome.leaf.assign(targets.means().begin(), targets.means().end());
        return outcome;
    }

    /// Whether the targets of all rows are alike: what most nodes are.
    [[nodiscard]] bool is_pure(std::span<const std::uint32_t> reach) const {
        if (!targets_.classes.empty())
            return std::ranges::all_of(reach, [&](std::uint32_t n) { return targets_.classes[n] == targets_.classes[reach[0]]; });
        const auto first = values_of(reach[0]);
        return std::ranges::all_of(reach, [&](std::uint32_t n) { return std::ranges::equal(values_of(n), first); });
    }
    [[nodiscard]] std::span<const double> values_of(std::size_t row) const {
        return targets_.values.subspan(row * targets_.n_outputs, targets_.n_outputs);
    }
    /// What a leaf of such rows holds.
    [[nodiscard]] std::vector<double> pure_leaf(std::size_t row) const {
        if (targets_.classes.empty()) return {values_of(row).begin(), values_of(row).end()};
        std::vector<double> leaf(targets_.n_outputs);
        leaf[static_cast<std::size_t>(targets_.classes[row])] = 1.0;
        return leaf;
    }

    /// Finds a hyperplane, or none, and parts the rows; returns the number of those on the left.
    std::size_t split(std::span<std::uint32_t> reach, const NodeTargets& targets, std::span<const std::uint32_t> judges,
                      std::size_t number, Hyperplane& plane) const {
        const GrowSite<D> site{rows_,
                               scaling_,
                               reach,
                               targets,
                               columns_,
                               options_.n_candidates,
                               {judges, &targets_, judge_weights_},
                               codes_ ? &*codes_ : nullptr};
        plane = rule_.find(site, Random(options_.seed, number));
        if (!plane.is_empty() && is_finite(plane)) {
            const std::size_t n_left = part(reach, plane);
            if (n_left > 0 && n_left < reach.size() && is_heavy(reach, n_left, targets)) return n_left;
            std::ranges::sort(reach);  // the order of their targets
        }
        Random random(options_.seed, number, 1);
        plane = best_axis(site, random);
        return plane.is_empty() ? 0 : part(reach, plane);
    }

    /// Whether both sides weigh enough for a leaf.
    [[nodiscard]] bool is_heavy(std::span<const std::uint32_t> reach, std::size_t n_left, const NodeTargets& targets) const {
        if (!targets.has_least_weight()) return true;
        double left_weight = 0.0;
        for (std::uint32_t row : reach.first(n_left)) left_weight += targets_.weights[row];
        return targets.allows(left_weight, targets.total_weight() - left_weight);
    }

    /// Left rows first, in their old order; how many they are.
    std::size_t part(std::span<std::uint32_t> reach, const Hyperplane& plane) const {
        std::vector<float> scores(reach.size());
        score_rows(rows_, reach, plane, std::span(scores));
        std::vector<std::uint32_t> right;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < reach.size(); ++i) {
            if (static_cast<double>(scores[i]) + plane.bias >= 0.0)
                right.push_back(reach[i]);
            else
                reach[n_left++] = reach[i];
        }
        std::ranges::copy(right, reach.begin() + static_cast<std::ptrdiff_t>(n_left));
        return n_left;
    }

    /// Writes a level down and returns the next one.
    std::vector<OpenNode> record(std::span<const OpenNode> level, std::span<Outcome> outcomes) {
        std::vector<OpenNode> next;
        const std::size_t first_child = tree_.left.size() + level.size();
        for (std::size_t k = 0; k < level.size(); ++k) {
            const Outcome& outcome = outcomes[k];
            const auto child = static_cast<std::int32_t>(first_child + next.size());
            tree_.left.push_back(outcome.is_leaf() ? -1 : child);
            tree_.right.push_back(outcome.is_leaf() ? -1 : child + 1);
            tree_.bias.push_back(outcome.plane.bias);
            for (std::uint32_t column : outcome.plane.columns) tree_.indices.push_back(static_cast<std::int32_t>(column));
            tree_.weights.insert(tree_.weights.end(), outcome.plane.weights.begin(), outcome.plane.weights.end());
            tree_.indptr.push_back(static_cast<std::int64_t>(tree_.indices.size()));
            tree_.leaf_values.insert(tree_.leaf_values.end(), outcome.leaf.begin(), outcome.leaf.end());
            if (outcome.is_leaf()) continue;
            const auto [members, judges] = level[k];
            const std::size_t middle = members.begin + outcome.n_left;
            const std::size_t judges_middle = judges.begin + outcome.n_left_judges;
            next.push_back({{members.begin, middle}, {judges.begin, judges_middle}});
            next.push_back({{middle, members.end}, {judges_middle, judges.end}});
        }
        return next;
    }

    const D& rows_;
    const Scaling& scaling_;
    const Targets& targets_;
    const SplitRule<D>& rule_;
    const GrowOptions& options_;
    std::span<const double> judge_weights_;
    std::vector<std::uint32_t> members_, judges_, columns_;
    std::optional<SampleCodes> codes_;
    GrownTree tree_;
};

}  // namespace

template <Design D>
GrownTree grow_tree(const D& rows, const Scaling& scaling, const Targets& targets, const SplitRule<D>& rule,
                    const GrowOptions& options, std::span<const double> judge_weights, const TrainingTable* table) {
    check_row_count(rows.n_rows);
    return Grower<D>(rows, scaling, targets, rule, options, judge_weights, table).grow();
}

#define SPINNEY_INSTANTIATE(D)                                                                                      \
    template GrownTree grow_tree(const D&, const Scaling&, const Targets&, const SplitRule<D>&, const GrowOptions&, \
                                 std::span<const double>, const TrainingTable*);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
