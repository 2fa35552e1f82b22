#include "spinney/route.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "spinney/padded_rows.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t rows_per_task = 1024;
/// To copy a wider row takes longer than to walk with what is left of it after whole vectors.
constexpr std::size_t widest_copied = 256;

/// Gives visit(n, x) each row as an array of floats; a row of bytes or a sparse row is spread out first,
/// so all kinds of rows meet the same arithmetic.
template <Design D, class Visit>
void visit_floats(const D& rows, std::size_t begin, std::size_t end, Visit&& visit) {
    if constexpr (is_float<D>) {
        for (std::size_t n = begin; n < end; ++n) visit(n, rows.row(n));
    } else {
        std::vector<float> x(rows.n_features, 0.0F);
        for (std::size_t n = begin; n < end; ++n) {
            rows.for_each(n, [&](std::size_t j, float value) { x[j] = value; });
            visit(n, std::span<const float>(x));
            rows.for_each(n, [&](std::size_t j, float) { x[j] = 0.0F; });
        }
    }
}

template <Design D, class Visit>
void visit_parallel(const D& rows, std::size_t n_threads, const Visit& visit) {
    const std::size_t n_tasks = (rows.n_rows + rows_per_task - 1) / rows_per_task;
    parallel_for(n_tasks, n_threads, [&](std::size_t task) {
        visit_floats(rows, task * rows_per_task, std::min(rows.n_rows, (task + 1) * rows_per_task), visit);
    });
}

/// The splits of a tree as full rows; leaves are coded by their node numbers.
struct FullSplits {
    std::vector<float> w;
    std::vector<double> bias;
    std::vector<std::int32_t> child;

    FullSplits(const TreeView& tree, std::size_t width) {
        std::vector<std::int32_t> code(tree.left.size());
        std::int32_t n_splits = 0;
        for (std::size_t node = 0; node < code.size(); ++node)
            code[node] = tree.left[node] < 0 ? ~static_cast<std::int32_t>(node) : n_splits++;
        for (std::size_t node = 0; node < code.size(); ++node) {
            if (tree.left[node] < 0) continue;
            const std::size_t row = w.size();
            w.resize(row + width, 0.0F);
            const auto columns = csr_row(tree.indices, tree.indptr, node);
            const auto weights = csr_row(tree.weights, tree.indptr, node);
            for (std::size_t k = 0; k < columns.size(); ++k) w[row + static_cast<std::size_t>(columns[k])] = weights[k];
            bias.push_back(tree.bias[node]);
            child.push_back(code[static_cast<std::size_t>(tree.left[node])]);
            child.push_back(code[static_cast<std::size_t>(tree.right[node])]);
        }
    }
};

/// Following indices pays only if most weights are zero and rows are wide.
bool has_sparse_splits(const TreeView& tree) {
    std::size_t n_splits = 0;
    for (std::int32_t child : tree.left) n_splits += child >= 0 ? 1 : 0;
    return tree.n_features > 64 && 4 * tree.weights.size() < n_splits * tree.n_features;
}

/// Rows walk together, as many as `walk` likes; sparse rows are walked by their entries. From row `begin` on, one for each leaf
/// to be found.
template <Design D>
void walk_some(const D& rows, std::size_t begin, const SplitArrays& splits, std::span<std::int32_t> leaf_nodes) {
    const std::size_t together = walk_rows(rows.width());
    for (std::size_t first = 0; first < leaf_nodes.size(); first += together) {
        const auto at = leaf_nodes.subspan(first, std::min(together, leaf_nodes.size() - first));
        std::array<std::size_t, most_walk_rows> numbers{};
        std::iota(numbers.begin(), numbers.end(), begin + first);
        std::ranges::fill(at, 0);
        walk_batch(rows, std::span<const std::size_t>(numbers.data(), at.size()), splits, at);
        for (std::int32_t& leaf : at) leaf = ~leaf;
    }
}

/// Narrow rows that are not padded are padded on the way.
template <Design D>
void walk_all(const D& rows, const TreeView& tree, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) {
    const bool is_copied = is_float<D> && rows.n_features <= widest_copied && rows.width() != padded_size(rows.n_features);
    const std::size_t width = is_copied ? padded_size(rows.n_features) : rows.width();
    const FullSplits full(tree, width);
    const SplitArrays splits{full.w.data(), full.bias.data(), full.child.data()};
    const std::size_t n_tasks = (rows.n_rows + rows_per_task - 1) / rows_per_task;
    parallel_for(n_tasks, n_threads, [&](std::size_t task) {
        const std::size_t begin = task * rows_per_task;
        const auto found = leaf_nodes.subspan(begin, std::min(rows_per_task, rows.n_rows - begin));
        if constexpr (is_float<D>)
            if (is_copied) {
                const PaddedRows<float> padded(found.size(), rows.n_features,
                                               [&](std::size_t r, float* out) { std::ranges::copy(rows.row(begin + r), out); });
                return walk_some(padded.view(), 0, splits, found);
            }
        walk_some(rows, begin, splits, found);
    });
}

std::int32_t walk_sparse(const TreeView& tree, std::span<const float> x) {
    std::size_t node = 0;
    while (tree.left[node] >= 0) {
        const auto columns = csr_row(tree.indices, tree.indptr, node);
        const double score = dot(columns, csr_row(tree.weights, tree.indptr, node).data(), x.data()) + tree.bias[node];
        node = static_cast<std::size_t>(score >= 0.0 ? tree.right[node] : tree.left[node]);
    }
    return static_cast<std::int32_t>(node);
}

}  // namespace

template <Design D>
void apply_tree(const D& rows, const TreeView& tree, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) {
    if (tree.left[0] < 0) {
        std::ranges::fill(leaf_nodes, 0);
    } else if (has_sparse_splits(tree)) {
        visit_parallel(rows, n_threads, [&](std::size_t n, std::span<const float> x) { leaf_nodes[n] = walk_sparse(tree, x); });
    } else {
        walk_all(rows, tree, n_threads, leaf_nodes);
    }
}

void check_leaves(const LinearLeafView& view, std::size_t n_features) {
    if (view.n_outputs == 0 || view.intercepts.size() % view.n_outputs != 0)
        throw std::invalid_argument("leaves need at least one output, and equally many each");
    if (view.indptr.size() != view.intercepts.size() + 1 || view.indices.size() != view.weights.size() ||
        view.indptr.front() != 0 || view.indptr.back() != static_cast<std::int64_t>(view.indices.size()))
        throw std::invalid_argument("leaf arrays disagree in length");
    for (std::size_t i = 0; i + 1 < view.indptr.size(); ++i)
        if (view.indptr[i] > view.indptr[i + 1]) throw std::invalid_argument("leaf indptr decreases");
    for (std::int32_t j : view.indices)
        if (j < 0 || static_cast<std::size_t>(j) >= n_features) throw std::invalid_argument("leaf feature out of range");
}

template <Design D>
void linear_outputs(const D& rows, std::span<const std::int32_t> leaves, const LinearLeafView& view, std::size_t n_threads,
                    std::span<double> out) {
    visit_parallel(rows, n_threads, [&](std::size_t n, std::span<const float> x) {
        for (std::size_t k = 0; k < view.n_outputs; ++k) {
            const std::size_t row = static_cast<std::size_t>(leaves[n]) * view.n_outputs + k;
            const auto columns = csr_row(view.indices, view.indptr, row);
            const float* w = csr_row(view.weights, view.indptr, row).data();
            double score = dot(columns, w, x.data());
            if (!std::isfinite(score)) score = exact_dot(columns, w, x.data());
            out[n * view.n_outputs + k] = score + view.intercepts[row];
        }
    });
}

#define SPINNEY_INSTANTIATE(D)                                                                                   \
    template void apply_tree<D>(const D&, const TreeView&, std::size_t, std::span<std::int32_t>);                \
    template void linear_outputs<D>(const D&, std::span<const std::int32_t>, const LinearLeafView&, std::size_t, \
                                    std::span<double>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
