#include "spinney/leaf_design.hpp"

#include <algorithm>
#include <variant>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t rows_per_task = 4096;

/// work(begin, end) for all rows, in parallel.
template <class Work>
void for_blocks(std::size_t n_rows, std::size_t n_threads, const Work& work) {
    parallel_for((n_rows + rows_per_task - 1) / rows_per_task, n_threads,
                 [&](std::size_t task) { work(task * rows_per_task, std::min(n_rows, (task + 1) * rows_per_task)); });
}

}  // namespace

std::vector<double> leaf_weights(const LeafDesign& design, double first) {
    std::vector<double> sums(design.n_leaves, first);
    for (std::size_t t = 0; t < design.n_trees; ++t)
        design.visit(t, [&](auto leaf_of, std::size_t first_leaf) {
            check_stop_after(leaf_of.size());
            for (std::size_t n = 0; n < leaf_of.size(); ++n) sums[first_leaf + leaf_of[n]] += design.weights[n];
        });
    return sums;
}

/// Trees own distinct leaves.
void collect(const LeafDesign& design, std::span<const double> row_values, std::size_t n_outputs, std::span<double> leaf_sums,
             std::size_t n_threads) {
    std::ranges::fill(leaf_sums, 0.0);
    parallel_for(design.n_trees, n_threads, [&](std::size_t t) {
        design.visit(t, [&](auto leaf_of, std::size_t first) {
            double* of_tree = leaf_sums.data() + first * n_outputs;
            for (std::size_t n = 0; n < leaf_of.size(); ++n) {
                check_stop_at(n);
                const double weight = design.weights[n];
                double* sums = of_tree + leaf_of[n] * n_outputs;
                for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += weight * row_values[n * n_outputs + k];
            }
        });
    });
}

void add_up(const LeafDesign& design, std::span<const double> values, std::size_t n_outputs, std::span<double> sums,
            std::size_t n_threads) {
    for_blocks(design.n_rows(), n_threads, [&](std::size_t begin, std::size_t end) {
        std::ranges::fill(sums.subspan(begin * n_outputs, (end - begin) * n_outputs), 0.0);
        for (std::size_t t = 0; t < design.n_trees; ++t)
            design.visit(t, [&](auto leaf_of, std::size_t first) {
                const double* of_tree = values.data() + first * n_outputs;
                for (std::size_t n = begin; n < end; ++n) {
                    const double* leaf = of_tree + leaf_of[n] * n_outputs;
                    for (std::size_t k = 0; k < n_outputs; ++k) sums[n * n_outputs + k] += leaf[k];
                }
            });
    });
}

void add_values(const LeafNumbers& leaf_of, std::span<const double> values, std::size_t n_outputs, double factor,
                std::span<double> sums, std::size_t n_threads) {
    std::visit(
        [&](auto numbers) {
            for_blocks(numbers.size(), n_threads, [&](std::size_t begin, std::size_t end) {
                for (std::size_t n = begin; n < end; ++n) {
                    const double* leaf = values.data() + numbers[n] * n_outputs;
                    for (std::size_t k = 0; k < n_outputs; ++k) sums[n * n_outputs + k] += factor * leaf[k];
                }
            });
        },
        leaf_of);
}

std::vector<double> shared_weights(const LeafDesign& design, std::size_t n_threads) {
    const std::size_t size = design.n_leaves;
    const std::size_t n_rows = design.n_rows();
    std::vector<double> shared(size * size);
    const auto count = [&](auto leaf_of) {
        parallel_for(design.n_trees, n_threads, [&](std::size_t t) {
            const auto mine = leaf_of.subspan(t * n_rows, n_rows);
            for (std::size_t u = 0; u < t; ++u) {
                check_stop_after(n_rows);
                const auto other = leaf_of.subspan(u * n_rows, n_rows);
                double* of_trees = shared.data() + design.first(t) * size + design.first(u);
                for (std::size_t n = 0; n < n_rows; ++n) of_trees[mine[n] * size + other[n]] += design.weights[n];
            }
        });
    };
    std::visit(count, design.leaves);
    return shared;
}

}  // namespace spinney
