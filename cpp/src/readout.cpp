#include "spinney/readout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spinney {
namespace {

/// Rows whose totals are kept at once where only the largest of them are wanted.
constexpr std::size_t most_rows = 4096;

}  // namespace

Readout::Readout(const Forest& forest, Says says, std::vector<double> tree_weights, std::vector<double> offsets)
    : forest_(&forest), says_(says), tree_weights_(std::move(tree_weights)), offsets_(std::move(offsets)) {
    if (tree_weights_.size() != forest.n_trees())
        throw std::invalid_argument(std::to_string(tree_weights_.size()) + " tree weights for " +
                                    std::to_string(forest.n_trees()) + " trees; give one a tree");
    if (offsets_.size() != forest.n_outputs())
        throw std::invalid_argument(std::to_string(offsets_.size()) + " offsets for " + std::to_string(forest.n_outputs()) +
                                    " outputs; give one an output");
}

void Readout::totals(const DenseRows& rows, std::size_t n_threads, std::span<double> out) const {
    if (says_ == Says::label)
        forest_->votes(rows, tree_weights_, n_threads, out);
    else
        forest_->sums(rows, tree_weights_, says_ == Says::probabilities, n_threads, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += offsets_[i % n_outputs()];
}

void Readout::largest(const DenseRows& rows, std::size_t n_threads, std::span<std::int32_t> out) const {
    std::vector<double> totals_of_part(std::min(most_rows, rows.n_rows) * n_outputs());
    for (std::size_t first = 0; first < rows.n_rows; first += most_rows) {
        const std::size_t count = std::min(most_rows, rows.n_rows - first);
        const std::span<double> part(totals_of_part.data(), count * n_outputs());
        totals({rows.begin(first), count, rows.n_features, rows.stride}, n_threads, part);
        for (std::size_t r = 0; r < count; ++r) out[first + r] = first_largest(part.subspan(r * n_outputs(), n_outputs()));
    }
}

}  // namespace spinney
