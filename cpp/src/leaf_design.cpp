#include "spinney/leaf_design.hpp"

#include <algorithm>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t rows_per_task = 4096;

}  // namespace

std::vector<double> leaf_weights(const LeafDesign& design, double first) {
    std::vector<double> sums(design.n_leaves, first);
    for (std::size_t t = 0; t < design.n_trees; ++t) {
        check_stop_after(design.n_rows());
        for (std::size_t n = 0; n < design.n_rows(); ++n) sums[design.tree(t)[n]] += design.weights[n];
    }
    return sums;
}

/// Trees own distinct leaves.
void collect(const LeafDesign& design, std::span<const double> row_values, std::size_t n_outputs, std::span<double> leaf_sums,
             std::size_t n_threads) {
    std::ranges::fill(leaf_sums, 0.0);
    const std::size_t n_rows = design.n_rows();
    parallel_for(design.n_trees, n_threads, [&](std::size_t t) {
        for (std::size_t n = 0; n < n_rows; ++n) {
            check_stop_at(n);
            const double weight = design.weights[n];
            double* sums = leaf_sums.data() + design.leaves[t * n_rows + n] * n_outputs;
            for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += weight * row_values[n * n_outputs + k];
        }
    });
}

void add_up(const LeafDesign& design, std::span<const double> values, std::size_t n_outputs, std::span<double> sums,
            std::size_t n_threads) {
    const std::size_t n_rows = design.n_rows();
    parallel_for((n_rows + rows_per_task - 1) / rows_per_task, n_threads, [&](std::size_t task) {
        const std::size_t begin = task * rows_per_task;
        const std::size_t end = std::min(n_rows, begin + rows_per_task);
        std::ranges::fill(sums.subspan(begin * n_outputs, (end - begin) * n_outputs), 0.0);
        for (std::size_t t = 0; t < design.n_trees; ++t)
            for (std::size_t n = begin; n < end; ++n) {
                const double* leaf = values.data() + design.leaves[t * n_rows + n] * n_outputs;
                for (std::size_t k = 0; k < n_outputs; ++k) sums[n * n_outputs + k] += leaf[k];
            }
    });
}

std::vector<double> shared_weights(const LeafDesign& design, std::size_t n_threads) {
    const std::size_t size = design.n_leaves;
    const std::size_t n_rows = design.n_rows();
    std::vector<double> shared(size * size);
    parallel_for(design.n_trees, n_threads, [&](std::size_t t) {
        const std::uint32_t* mine = design.leaves.data() + t * n_rows;
        for (std::size_t u = 0; u < t; ++u) {
            check_stop_after(n_rows);
            const std::uint32_t* other = design.leaves.data() + u * n_rows;
            for (std::size_t n = 0; n < n_rows; ++n) shared[mine[n] * size + other[n]] += design.weights[n];
        }
    });
    return shared;
}

}  // namespace spinney
