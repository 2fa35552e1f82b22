#include "spinney/forest.hpp"

#include <algorithm>
#include <cmath>

#include "row_block.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Rows of a block, and the floats that they may have together: the more rows, the longer a tree is used
/// once it is in the cache; beyond these sizes nothing is gained.
constexpr std::size_t least_block_rows = 4;
constexpr std::size_t most_block_rows = 4096;
constexpr std::size_t most_block_floats = std::size_t{512} * 1024;
/// Rows worth a thread of their own.
constexpr std::size_t least_task_rows = 64;
/// Blocks of very wide rows are small: so many rows share a buffer, which is filled with zeros only once.
constexpr std::size_t least_buffer_rows = 256;
/// Walks handed over at once where there are fewer rows: then several trees walk together.
constexpr std::size_t least_walks = 64;

/// Leaves that the rows of a block reach in a tree, coded as `walk` leaves them.
using Leaves = std::span<const std::int32_t>;

/// Walks by the entries of sparse rows; dot(walk, split) is a sum with the same bits as over all columns.
template <class Dot>
void walk_entries(std::span<const PackedSplit> splits, std::span<std::int32_t> at, const Dot& dot) {
    for (std::size_t i = 0; i < at.size(); ++i)
        while (at[i] >= 0) {
            const auto number = static_cast<std::size_t>(at[i]);
            const double score = dot(i, number) + splits[number].bias;
            at[i] = splits[number].child[static_cast<std::size_t>(score >= 0.0)];
        }
}

}  // namespace

/// visit(tree, block of rows, their leaves) for every tree and every block.
template <Design D, class Visit>
void Forest::visit_leaves(const D& rows, std::size_t n_threads, const Visit& visit) const {
    if (rows.n_rows == 0) return;
    const std::size_t block_rows =
        std::clamp(most_block_floats / padded_size(packed_.n_features), least_block_rows, most_block_rows);
    const std::size_t share = rows.n_rows / std::max<std::size_t>(1, n_threads) + 1;
    const std::size_t task_rows = std::clamp(share, least_task_rows, std::max(block_rows, least_buffer_rows));
    const std::size_t n_tasks = (rows.n_rows + task_rows - 1) / task_rows;
    parallel_for(n_tasks, n_threads, [&](std::size_t task) {
        const std::size_t end = std::min(rows.n_rows, (task + 1) * task_rows);
        RowBlock<D> block(rows, std::min({block_rows, task_rows, rows.n_rows}), packed_.is_padded());
        for (std::size_t first = task * task_rows; first < end; first += block_rows) {
            block.load(first, std::min(block_rows, end - first));
            walk_block(block, visit);
        }
    });
}

/// All trees for the rows of a block. Trees of one form share a walk as long as it is short: a single row
/// then goes through many trees at once, and one tree's arithmetic fills the waiting times of another's.
template <class Block, class Visit>
void Forest::walk_block(const Block& block, const Visit& visit) const {
    const std::size_t n_rows = block.size();
    const std::size_t most_together = std::max<std::size_t>(1, least_walks / n_rows);
    std::vector<const float*> x(n_rows * std::min(most_together, n_trees()));
    std::vector<std::int32_t> at(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = block.x()[i % n_rows];
    for (std::size_t tree = 0; tree < n_trees();) {
        const PackedForm form = packed_.trees[tree].form;
        const std::size_t last = std::min(tree + most_together, n_trees());
        std::size_t end = tree;
        for (auto to = at.begin(); end < last && packed_.trees[end].form == form; ++end)
            to = std::fill_n(to, n_rows, packed_.trees[end].root);
        const std::size_t n_walks = (end - tree) * n_rows;
        walk_trees(block, form, std::span<const float* const>(x).first(n_walks), std::span(at).first(n_walks));
        for (Leaves leaves = at; tree < end; ++tree, leaves = leaves.subspan(n_rows)) visit(tree, block, leaves.first(n_rows));
    }
}

template <class Block>
void Forest::walk_trees(const Block& block, PackedForm form, std::span<const float* const> x, std::span<std::int32_t> at) const {
    if (form == PackedForm::axis) {
        kernels().walk_axis(x, packed_.axis_splits, at);
    } else if (form == PackedForm::sparse) {
        const SparseTable& w = packed_.sparse_w;
        if (!packed_.sparse_masks.empty() && block.has_fewer_entries_than(w.indices.size() / w.n_rows()))
            return walk_entries(packed_.sparse_splits, at, [&](std::size_t i, std::size_t split) {
                return block.dot(i % block.size(), packed_.sparse_masks, w, split);
            });
        kernels().walk_sparse(x, SparseSplits{packed_.sparse_splits.data(), w.begin.data(), w.indices.data(), w.weights.data()},
                              at);
    } else {
        const PaddedTable& w = packed_.padded_w;
        if (w.stride() > 32 && block.has_fewer_entries_than(packed_.n_features / 16))
            return walk_entries(packed_.padded_splits, at, [&](std::size_t i, std::size_t split) {
                return block.dot(i % block.size(), w.data() + split * w.stride());
            });
        kernels().walk_padded(x, PaddedSplits{w.data(), packed_.padded_splits.data(), w.stride()}, at);
    }
}

void Forest::linear_scores(const PackedTree& tree, std::size_t leaf, const float* x, std::span<double> scores) const {
    const std::size_t first = tree.first_linear + (leaf - tree.first_leaf) * packed_.n_outputs;
    const auto intercepts = packed_.values_of(leaf);
    if (tree.leaf_form == PackedForm::padded) {
        const std::size_t stride = packed_.padded_leaf_w.stride();
        const float* w = packed_.padded_leaf_w.data() + first * stride;
        kernels().padded_scores(x, w, stride, intercepts, scores.data());
        for (std::size_t k = 0; k < packed_.n_outputs; ++k)
            if (!std::isfinite(scores[k])) scores[k] = exact_dot({x, packed_.n_features}, w + k * stride) + intercepts[k];
        return;
    }
    for (std::size_t k = 0; k < packed_.n_outputs; ++k) {
        const auto columns = packed_.sparse_leaf_w.columns(first + k);
        const float* w = packed_.sparse_leaf_w.weights.data() + packed_.sparse_leaf_w.begin[first + k];
        scores[k] = dot(columns, w, x) + intercepts[k];
        if (!std::isfinite(scores[k])) scores[k] = exact_dot(columns, w, x) + intercepts[k];
    }
}

template <Design D>
void Forest::apply(const D& rows, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) const {
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        for (std::size_t r = 0; r < leaves.size(); ++r)
            leaf_nodes[(block.first() + r) * n_trees() + tree] = packed_.leaf_nodes[static_cast<std::size_t>(~leaves[r])];
    });
}

/// visit(tree, row, label) in the order of the trees for each row.
template <Design D, class Visit>
void Forest::visit_labels(const D& rows, std::size_t n_threads, const Visit& visit) const {
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        const std::size_t first = block.first();
        if (!packed_.trees[tree].is_linear) {
            for (std::size_t r = 0; r < leaves.size(); ++r)
                visit(tree, first + r, packed_.leaf_labels[static_cast<std::size_t>(~leaves[r])]);
            return;
        }
        std::vector<double> scores(packed_.n_outputs);
        for (std::size_t r = 0; r < leaves.size(); ++r) {
            linear_scores(packed_.trees[tree], static_cast<std::size_t>(~leaves[r]), block.x()[r], scores);
            visit(tree, first + r, first_largest(scores));
        }
    });
}

template <Design D>
void Forest::labels(const D& rows, std::size_t n_threads, std::span<std::int32_t> labels) const {
    visit_labels(rows, n_threads,
                 [&](std::size_t tree, std::size_t row, std::int32_t label) { labels[row * n_trees() + tree] = label; });
}

/// sum_t alpha_t I(T_t(x) = k), the vote of bagged-tao section 4 and the last line of boosted-tao, Algorithm 1.
template <Design D>
void Forest::votes(const D& rows, std::span<const double> tree_weights, std::size_t n_threads, std::span<double> votes) const {
    std::ranges::fill(votes, 0.0);
    visit_labels(rows, n_threads, [&](std::size_t tree, std::size_t row, std::int32_t label) {
        votes[row * packed_.n_outputs + static_cast<std::size_t>(label)] += tree_weights[tree];
    });
}

/// sum_t alpha_t T_t(x): F(x) of fao section 4 for alpha = 1, g_c(x) of random-decision-forests section 4 for alpha = 1/t.
template <Design D>
void Forest::sums(const D& rows, std::span<const double> tree_weights, bool is_softmax, std::size_t n_threads,
                  std::span<double> sums) const {
    std::ranges::fill(sums, 0.0);
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        const double weight = tree_weights[tree];
        std::vector<double> scores(packed_.trees[tree].is_linear ? packed_.n_outputs : 0);
        for (std::size_t r = 0; r < leaves.size(); ++r) {
            const auto leaf = static_cast<std::size_t>(~leaves[r]);
            auto outputs = packed_.values_of(leaf);
            if (packed_.trees[tree].is_linear) {
                linear_scores(packed_.trees[tree], leaf, block.x()[r], scores);
                if (is_softmax) kernels().softmax(scores);
                outputs = scores;
            }
            double* total = sums.data() + (block.first() + r) * packed_.n_outputs;
            for (std::size_t k = 0; k < packed_.n_outputs; ++k) total[k] += weight * outputs[k];
        }
    });
}

#define SPINNEY_INSTANTIATE(D)                                                                            \
    template void Forest::apply(const D&, std::size_t, std::span<std::int32_t>) const;                    \
    template void Forest::labels(const D&, std::size_t, std::span<std::int32_t>) const;                   \
    template void Forest::votes(const D&, std::span<const double>, std::size_t, std::span<double>) const; \
    template void Forest::sums(const D&, std::span<const double>, bool, std::size_t, std::span<double>) const;
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
