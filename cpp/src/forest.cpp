#include "spinney/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Rows of a block, and the floats that they may have together: the more rows, the longer a tree is used
/// once it is in the cache; beyond these sizes nothing is gained.
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

/// A row of a CSR matrix whose arrays have been checked.
template <class T>
std::span<const T> csr_row(std::span<const T> entries, std::span<const std::int64_t> indptr, std::size_t row) {
    const auto begin = static_cast<std::size_t>(indptr[row]);
    return entries.subspan(begin, static_cast<std::size_t>(indptr[row + 1]) - begin);
}

/// Padded rows add equal columns in one place, sparse rows one by one: they agree only if there are none.
void check_ascending(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices) {
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
        const auto columns = csr_row(indices, indptr, row);
        if (std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) != columns.end())
            throw std::invalid_argument("features of a hyperplane are unsorted or repeated; give ascending ones");
    }
}

std::size_t count_leaves(const TreeView& tree) {
    return static_cast<std::size_t>(std::ranges::count_if(tree.left, [](std::int32_t child) { return child < 0; }));
}

void check_forest_tree(const ForestTree& tree, std::size_t n_features, std::size_t n_outputs) {
    if (tree.splits.n_features != n_features || tree.leaves.n_outputs != n_outputs)
        throw std::invalid_argument("trees of a forest disagree in features or outputs");
    check_tree(tree.splits);
    check_leaves(tree.leaves, n_features);
    check_ascending(tree.splits.indptr, tree.splits.indices);
    check_ascending(tree.leaves.indptr, tree.leaves.indices);
    const std::size_t n_leaves = count_leaves(tree.splits);
    if (tree.leaves.intercepts.size() != n_leaves * n_outputs)
        throw std::invalid_argument("leaf table of " + std::to_string(tree.leaves.intercepts.size() / n_outputs) + " rows for " +
                                    std::to_string(n_leaves) + " leaves; give one row a leaf");
    if (!tree.is_linear && !tree.leaves.weights.empty()) throw std::invalid_argument("constant leaves have weights; give none");
}

std::int32_t first_largest(std::span<const double> values) {
    return static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
}

/// Following indices pays only if nearly all weights are zero and rows are wide: one entry costs as much as
/// sixteen that lie in a row.
bool are_sparse(std::size_t n_weights, std::size_t n_hyperplanes, std::size_t n_features) {
    return n_features > 64 && n_weights < n_hyperplanes * n_features / 16;
}

/// A few rows as floats, in place where they are floats already, else in a buffer of padded rows.
template <Design D>
class RowBlock {
  public:
    RowBlock(const D& rows, std::size_t capacity, bool is_padded)
        : rows_(rows), stride_(is_padded ? padded_size(rows.n_features) : rows.n_features), x_(capacity) {
        if (!is_in_place()) buffer_.resize(capacity * stride_, 0.0F);
    }

    void load(std::size_t first, std::size_t count) {
        if constexpr (is_sparse<D>) clear();
        first_ = first;
        count_ = count;
        for (std::size_t r = 0; r < count; ++r) {
            if constexpr (std::same_as<D, DenseRows>)
                if (is_in_place()) {
                    x_[r] = rows_.row(first + r).data();
                    continue;
                }
            float* x = buffer_.data() + r * stride_;
            rows_.for_each(first + r, [&](std::size_t j, float value) { x[j] = value; });
            x_[r] = x;
        }
    }

    [[nodiscard]] std::size_t first() const { return first_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<const float* const> x() const { return {x_.data(), count_}; }

    /// Product of row r with a full hyperplane, or with one of a sparse table.
    [[nodiscard]] double dot(std::size_t r, const float* w) const { return rows_.dot(first_ + r, w); }
    [[nodiscard]] double dot(std::size_t r, const ColumnMasks& masks, const SparseTable& table, std::size_t number) const {
        if constexpr (is_sparse<D>)
            return masks.dot(rows_.columns(first_ + r), rows_.entries(first_ + r), table, number);
        else
            return spinney::dot(table.columns(number), table.weights.data() + table.begin[number], x_[r]);
    }

    /// Whether the rows are sparse and have, on average, fewer than `count` entries.
    [[nodiscard]] bool has_fewer_entries_than(std::size_t count) const {
        if constexpr (is_sparse<D>)
            return rows_.begin(first_ + count_) - rows_.begin(first_) < count * count_;
        else
            return false;
    }

  private:
    [[nodiscard]] bool is_in_place() const { return std::same_as<D, DenseRows> && stride_ == rows_.n_features; }
    void clear() {
        for (std::size_t r = 0; r < count_; ++r)
            rows_.for_each(first_ + r, [&](std::size_t j, float) { buffer_[r * stride_ + j] = 0.0F; });
    }

    const D& rows_;
    std::size_t stride_, first_ = 0, count_ = 0;
    std::vector<float> buffer_;
    std::vector<const float*> x_;
};

}  // namespace

void PaddedTable::append(std::span<const std::int32_t> indices, std::span<const float> weights) {
    const std::size_t n_lines = ((n_rows_ + 1) * stride_ + line_size - 1) / line_size;
    if (lines_.size() < n_lines) lines_.resize(n_lines, Line{});
    float* row = reinterpret_cast<float*>(lines_.data()) + n_rows_ * stride_;
    for (std::size_t k = 0; k < indices.size(); ++k) row[static_cast<std::size_t>(indices[k])] = weights[k];
    ++n_rows_;
}

void SparseTable::append(std::span<const std::int32_t> row_indices, std::span<const float> row_weights) {
    indices.insert(indices.end(), row_indices.begin(), row_indices.end());
    weights.insert(weights.end(), row_weights.begin(), row_weights.end());
    begin.push_back(indices.size());
}

void ColumnMasks::build(const SparseTable& table, std::size_t n_features) {
    constexpr std::size_t most_times_larger = 4;
    const std::size_t n_words = (n_features + 63) / 64;
    const std::size_t table_size = table.indices.size() * (sizeof(std::int32_t) + sizeof(float));
    if (table.n_rows() * n_words * sizeof(Word) > most_times_larger * table_size) return;
    n_words_ = n_words;
    words_.resize(table.n_rows() * n_words);
    for (std::size_t row = 0; row < table.n_rows(); ++row) {
        for (std::size_t k = table.begin[row]; k < table.begin[row + 1]; ++k) {
            const auto column = static_cast<std::size_t>(table.indices[k]);
            Word& word = words_[row * n_words + column / 64];
            if (word.bits == 0) word.first = k;
            word.bits |= std::uint64_t{1} << column % 64;
        }
    }
}

double ColumnMasks::dot(std::span<const std::int32_t> columns, std::span<const float> entries, const SparseTable& table,
                        std::size_t number) const {
    const Word* words = words_.data() + number * n_words_;
    LaneSum sum;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto column = static_cast<std::size_t>(columns[k]);
        const Word& word = words[column / 64];
        const std::uint64_t bit = std::uint64_t{1} << column % 64;
        if ((word.bits & bit) == 0) continue;
        const auto n_before = static_cast<std::size_t>(std::popcount(word.bits & (bit - 1)));
        sum.add(column, entries[k] * table.weights[word.first + n_before]);
    }
    return sum.total();
}

Forest::Forest(std::span<const ForestTree> trees, std::size_t n_features, std::size_t n_outputs)
    : n_features_(n_features), n_outputs_(n_outputs), padded_w_(n_features), padded_leaf_w_(n_features) {
    constexpr std::size_t largest = std::numeric_limits<std::int32_t>::max();
    if (trees.empty() || n_features == 0 || n_outputs == 0)
        throw std::invalid_argument("a forest needs at least one tree, one feature and one output");
    if (n_features > largest)
        throw std::invalid_argument(std::to_string(n_features) + " features are too many; give at most " +
                                    std::to_string(largest));
    std::size_t n_nodes = 0;
    for (const ForestTree& tree : trees) {
        check_forest_tree(tree, n_features, n_outputs);
        n_nodes += tree.splits.left.size();
    }
    if (n_nodes > largest)
        throw std::invalid_argument("a forest of " + std::to_string(n_nodes) + " nodes is too large; give fewer trees");
    reserve(trees);
    for (const ForestTree& tree : trees) pack(tree);
    sparse_masks_.build(sparse_w_, n_features);
    is_padded_ = padded_w_.n_rows() + padded_leaf_w_.n_rows() > 0;
}

/// Space for the large tables in one piece: grown step by step they would take twice as much.
void Forest::reserve(std::span<const ForestTree> trees) {
    std::size_t n_padded = 0;
    std::size_t n_padded_leaf = 0;
    std::size_t n_values = 0;
    for (const ForestTree& tree : trees) {
        const std::size_t n_leaf_rows = tree.leaves.intercepts.size();
        if (form_of(tree.splits) == Form::padded) n_padded += tree.splits.left.size() - count_leaves(tree.splits);
        if (tree.is_linear && leaf_form_of(tree) == Form::padded) n_padded_leaf += n_leaf_rows;
        n_values += n_leaf_rows;
    }
    padded_w_.reserve(n_padded);
    padded_leaf_w_.reserve(n_padded_leaf);
    leaf_values_.reserve(n_values);
}

Forest::Form Forest::form_of(const TreeView& tree) {
    bool is_axis = true;
    for (std::size_t node = 0; node < tree.left.size(); ++node)
        is_axis = is_axis && tree.indptr[node + 1] - tree.indptr[node] <= 1;
    if (is_axis) return Form::axis;
    return are_sparse(tree.weights.size(), tree.left.size() - count_leaves(tree), tree.n_features) ? Form::sparse : Form::padded;
}

Forest::Form Forest::leaf_form_of(const ForestTree& tree) {
    const LinearLeafView& leaves = tree.leaves;
    return are_sparse(leaves.weights.size(), leaves.intercepts.size(), tree.splits.n_features) ? Form::sparse : Form::padded;
}

std::size_t Forest::n_splits(Form form) const {
    if (form == Form::axis) return axis_splits_.size();
    return form == Form::sparse ? sparse_splits_.size() : padded_splits_.size();
}

void Forest::pack(const ForestTree& tree) {
    const Form form = form_of(tree.splits);
    std::vector<std::int32_t> codes(tree.splits.left.size());
    auto split = static_cast<std::int32_t>(n_splits(form));
    auto leaf = static_cast<std::int32_t>(leaf_nodes_.size());
    for (std::size_t node = 0; node < codes.size(); ++node) codes[node] = tree.splits.left[node] < 0 ? ~leaf++ : split++;
    PackedTree& packed = trees_.emplace_back();
    packed.form = form;
    packed.is_linear = tree.is_linear;
    packed.root = codes[0];
    packed.first_leaf = leaf_nodes_.size();
    pack_splits(tree.splits, codes, form);
    pack_leaves(tree);
}

void Forest::pack_splits(const TreeView& tree, std::span<const std::int32_t> codes, Form form) {
    for (std::size_t node = 0; node < codes.size(); ++node) {
        if (tree.left[node] < 0) continue;
        const auto indices = csr_row(tree.indices, tree.indptr, node);
        const auto weights = csr_row(tree.weights, tree.indptr, node);
        const std::int32_t left = codes[static_cast<std::size_t>(tree.left[node])];
        const std::int32_t right = codes[static_cast<std::size_t>(tree.right[node])];
        if (form == Form::axis) {
            const bool is_empty = indices.empty();
            axis_splits_.push_back({tree.bias[node], {left, right}, is_empty ? 0 : indices[0], is_empty ? 0.0F : weights[0]});
        } else if (form == Form::sparse) {
            sparse_splits_.push_back({tree.bias[node], {left, right}});
            sparse_w_.append(indices, weights);
        } else {
            padded_splits_.push_back({tree.bias[node], {left, right}});
            padded_w_.append(indices, weights);
        }
    }
}

void Forest::pack_leaves(const ForestTree& tree) {
    for (std::size_t node = 0; node < tree.splits.left.size(); ++node)
        if (tree.splits.left[node] < 0) leaf_nodes_.push_back(static_cast<std::int32_t>(node));
    const LinearLeafView& leaves = tree.leaves;
    leaf_values_.insert(leaf_values_.end(), leaves.intercepts.begin(), leaves.intercepts.end());
    while (leaf_labels_.size() < leaf_nodes_.size()) leaf_labels_.push_back(first_largest(values_of(leaf_labels_.size())));
    if (!tree.is_linear) return;
    PackedTree& packed = trees_.back();
    packed.leaf_form = leaf_form_of(tree);
    const bool is_padded = packed.leaf_form == Form::padded;
    packed.first_linear = is_padded ? padded_leaf_w_.n_rows() : sparse_leaf_w_.n_rows();
    for (std::size_t row = 0; row < leaves.intercepts.size(); ++row) {
        const auto indices = csr_row(leaves.indices, leaves.indptr, row);
        const auto weights = csr_row(leaves.weights, leaves.indptr, row);
        if (is_padded)
            padded_leaf_w_.append(indices, weights);
        else
            sparse_leaf_w_.append(indices, weights);
    }
}

/// visit(tree, block of rows, their leaves) for every tree and every block.
template <Design D, class Visit>
void Forest::visit_leaves(const D& rows, std::size_t n_threads, const Visit& visit) const {
    if (rows.n_rows == 0) return;
    const std::size_t block_rows = std::clamp(most_block_floats / padded_size(n_features_), walk_rows, most_block_rows);
    const std::size_t share = rows.n_rows / std::max<std::size_t>(1, n_threads) + 1;
    const std::size_t task_rows = std::clamp(share, least_task_rows, std::max(block_rows, least_buffer_rows));
    const std::size_t n_tasks = (rows.n_rows + task_rows - 1) / task_rows;
    parallel_for(n_tasks, n_threads, [&](std::size_t task) {
        const std::size_t end = std::min(rows.n_rows, (task + 1) * task_rows);
        RowBlock<D> block(rows, std::min({block_rows, task_rows, rows.n_rows}), is_padded_);
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
        const Form form = trees_[tree].form;
        const std::size_t last = std::min(tree + most_together, n_trees());
        std::size_t end = tree;
        for (auto to = at.begin(); end < last && trees_[end].form == form; ++end) to = std::fill_n(to, n_rows, trees_[end].root);
        const std::size_t n_walks = (end - tree) * n_rows;
        walk_trees(block, form, std::span<const float* const>(x).first(n_walks), std::span(at).first(n_walks));
        for (Leaves leaves = at; tree < end; ++tree, leaves = leaves.subspan(n_rows)) visit(tree, block, leaves.first(n_rows));
    }
}

template <class Block>
void Forest::walk_trees(const Block& block, Form form, std::span<const float* const> x, std::span<std::int32_t> at) const {
    if (form == Form::axis) {
        kernels().walk_axis(x, axis_splits_, at);
    } else if (form == Form::sparse) {
        const SparseTable& w = sparse_w_;
        if (!sparse_masks_.empty() && block.has_fewer_entries_than(w.indices.size() / w.n_rows()))
            return walk_entries(sparse_splits_, at, [&](std::size_t i, std::size_t split) {
                return block.dot(i % block.size(), sparse_masks_, w, split);
            });
        kernels().walk_sparse(x, SparseSplits{sparse_splits_.data(), w.begin.data(), w.indices.data(), w.weights.data()}, at);
    } else {
        const PaddedTable& w = padded_w_;
        if (w.stride() > 32 && block.has_fewer_entries_than(n_features_ / 16))
            return walk_entries(padded_splits_, at, [&](std::size_t i, std::size_t split) {
                return block.dot(i % block.size(), w.data() + split * w.stride());
            });
        kernels().walk_padded(x, PaddedSplits{w.data(), padded_splits_.data(), w.stride()}, at);
    }
}

/// Walks by the entries of sparse rows; dot(walk, split) is a sum with the same bits as over all columns.
template <class Dot>
void Forest::walk_entries(std::span<const PackedSplit> splits, std::span<std::int32_t> at, const Dot& dot) {
    for (std::size_t i = 0; i < at.size(); ++i)
        while (at[i] >= 0) {
            const auto number = static_cast<std::size_t>(at[i]);
            const double score = dot(i, number) + splits[number].bias;
            at[i] = splits[number].child[static_cast<std::size_t>(score >= 0.0)];
        }
}

void Forest::linear_scores(const PackedTree& tree, std::size_t leaf, const float* x, std::span<double> scores) const {
    const std::size_t first = tree.first_linear + (leaf - tree.first_leaf) * n_outputs_;
    const auto intercepts = values_of(leaf);
    if (tree.leaf_form == Form::padded) {
        const std::size_t stride = padded_leaf_w_.stride();
        const float* w = padded_leaf_w_.data() + first * stride;
        kernels().padded_scores(x, w, stride, intercepts, scores.data());
        for (std::size_t k = 0; k < n_outputs_; ++k)
            if (!std::isfinite(scores[k])) scores[k] = exact_dot({x, n_features_}, w + k * stride) + intercepts[k];
        return;
    }
    for (std::size_t k = 0; k < n_outputs_; ++k) {
        const auto columns = sparse_leaf_w_.columns(first + k);
        const float* w = sparse_leaf_w_.weights.data() + sparse_leaf_w_.begin[first + k];
        scores[k] = dot(columns, w, x) + intercepts[k];
        if (!std::isfinite(scores[k])) scores[k] = exact_dot(columns, w, x) + intercepts[k];
    }
}

template <Design D>
void Forest::apply(const D& rows, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) const {
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        for (std::size_t r = 0; r < leaves.size(); ++r)
            leaf_nodes[(block.first() + r) * n_trees() + tree] = leaf_nodes_[static_cast<std::size_t>(~leaves[r])];
    });
}

/// visit(tree, row, label) in the order of the trees for each row.
template <Design D, class Visit>
void Forest::visit_labels(const D& rows, std::size_t n_threads, const Visit& visit) const {
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        const std::size_t first = block.first();
        if (!trees_[tree].is_linear) {
            for (std::size_t r = 0; r < leaves.size(); ++r)
                visit(tree, first + r, leaf_labels_[static_cast<std::size_t>(~leaves[r])]);
            return;
        }
        std::vector<double> scores(n_outputs_);
        for (std::size_t r = 0; r < leaves.size(); ++r) {
            linear_scores(trees_[tree], static_cast<std::size_t>(~leaves[r]), block.x()[r], scores);
            visit(tree, first + r, first_largest(scores));
        }
    });
}

template <Design D>
void Forest::labels(const D& rows, std::size_t n_threads, std::span<std::int32_t> labels) const {
    visit_labels(rows, n_threads,
                 [&](std::size_t tree, std::size_t row, std::int32_t label) { labels[row * n_trees() + tree] = label; });
}

template <Design D>
void Forest::votes(const D& rows, std::span<const double> tree_weights, std::size_t n_threads, std::span<double> votes) const {
    std::ranges::fill(votes, 0.0);
    visit_labels(rows, n_threads, [&](std::size_t tree, std::size_t row, std::int32_t label) {
        votes[row * n_outputs_ + static_cast<std::size_t>(label)] += tree_weights[tree];
    });
}

template <Design D>
void Forest::sums(const D& rows, std::span<const double> tree_weights, bool is_softmax, std::size_t n_threads,
                  std::span<double> sums) const {
    std::ranges::fill(sums, 0.0);
    visit_leaves(rows, n_threads, [&](std::size_t tree, const RowBlock<D>& block, Leaves leaves) {
        const double weight = tree_weights[tree];
        std::vector<double> scores(trees_[tree].is_linear ? n_outputs_ : 0);
        for (std::size_t r = 0; r < leaves.size(); ++r) {
            const auto leaf = static_cast<std::size_t>(~leaves[r]);
            auto outputs = values_of(leaf);
            if (trees_[tree].is_linear) {
                linear_scores(trees_[tree], leaf, block.x()[r], scores);
                if (is_softmax) kernels().softmax(scores);
                outputs = scores;
            }
            double* total = sums.data() + (block.first() + r) * n_outputs_;
            for (std::size_t k = 0; k < n_outputs_; ++k) total[k] += weight * outputs[k];
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
