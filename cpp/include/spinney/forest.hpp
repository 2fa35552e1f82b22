#pragma once
/// Many finished trees, packed for prediction.
///
/// Rows pass in blocks and each tree meets a whole block, so that the tree stays in the cache. What a row
/// gets depends on the row alone and is summed in the order of the trees: the bits are the same for any
/// number of threads, any split of the rows into calls, and dense, byte or sparse rows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/route.hpp"
#include "spinney/simd.hpp"
#include "spinney/tree.hpp"

namespace spinney {

/// A tree with its leaf table: row r of `leaves` belongs to the r-th leaf in node order. The intercepts of
/// constant leaves are their values; their hyperplanes are empty.
struct ForestTree {
    TreeView splits;
    LinearLeafView leaves;
    bool is_linear = false;
};

/// Rows of floats, each padded with zeros to `stride` and aligned to registers.
class PaddedTable {
  public:
    explicit PaddedTable(std::size_t n_features) : stride_(padded_size(n_features)) {}
    void reserve(std::size_t n_rows) { lines_.reserve((n_rows * stride_ + line_size - 1) / line_size); }
    void append(std::span<const std::int32_t> indices, std::span<const float> weights);

    [[nodiscard]] const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] std::size_t n_rows() const { return n_rows_; }

  private:
    static constexpr std::size_t line_size = 16;
    struct alignas(64) Line {
        float values[line_size];
    };
    std::size_t stride_, n_rows_ = 0;
    std::vector<Line> lines_;
};

/// Rows of non-zeros one behind the other.
struct SparseTable {
    std::vector<std::size_t> begin{0};
    std::vector<std::int32_t> indices;
    std::vector<float> weights;

    void append(std::span<const std::int32_t> row_indices, std::span<const float> row_weights);
    [[nodiscard]] std::size_t n_rows() const { return begin.size() - 1; }
    [[nodiscard]] std::span<const std::int32_t> columns(std::size_t row) const {
        return {indices.data() + begin[row], begin[row + 1] - begin[row]};
    }
};

/// Which columns the rows of a SparseTable have, one bit each: the way from a column to its weight. A row of
/// text has few entries, and nearly all of them meet no weight.
class ColumnMasks {
  public:
    /// Stays empty if the bits would take far more memory than the table.
    void build(const SparseTable& table, std::size_t n_features);
    [[nodiscard]] bool empty() const { return words_.empty(); }

    /// Product of a sparse row with row `number` of the table, with the same bits as `dot`.
    [[nodiscard]] double dot(std::span<const std::int32_t> columns, std::span<const float> entries, const SparseTable& table,
                             std::size_t number) const;

  private:
    struct Word {
        std::uint64_t bits = 0;
        std::size_t first = 0;  ///< place in the table of the weight of its first column
    };
    std::size_t n_words_ = 0;  ///< words of a row
    std::vector<Word> words_;
};

class Forest {
  public:
    /// Copies the trees. Throws std::invalid_argument unless there is at least one, every tree can be walked
    /// safely, has one row of `n_outputs` values a leaf, and reads `n_features` columns.
    Forest(std::span<const ForestTree> trees, std::size_t n_features, std::size_t n_outputs);

    [[nodiscard]] std::size_t n_trees() const { return trees_.size(); }
    [[nodiscard]] std::size_t n_features() const { return n_features_; }
    [[nodiscard]] std::size_t n_outputs() const { return n_outputs_; }

    /// Node number of the leaf of each row in each tree, n_trees a row.
    template <Design D>
    void apply(const D& rows, std::size_t n_threads, std::span<std::int32_t> leaf_nodes) const;

    /// Output with the largest value (the first of equals) of each row in each tree, n_trees a row.
    template <Design D>
    void labels(const D& rows, std::size_t n_threads, std::span<std::int32_t> labels) const;

    /// Sum of the weights of the trees that give a row a label, n_outputs a row.
    template <Design D>
    void votes(const D& rows, std::span<const double> tree_weights, std::size_t n_threads, std::span<double> votes) const;

    /// Sum of the leaves' outputs times the weights of their trees, n_outputs a row. With `is_softmax` the
    /// scores of linear leaves become probabilities first.
    template <Design D>
    void sums(const D& rows, std::span<const double> tree_weights, bool is_softmax, std::size_t n_threads,
              std::span<double> sums) const;

  private:
    /// How the hyperplanes of a tree are kept: one weight each, non-zeros, or padded rows.
    enum class Form : std::uint8_t { axis, sparse, padded };
    struct PackedTree {
        Form form = Form::axis;
        Form leaf_form = Form::sparse;
        bool is_linear = false;
        std::int32_t root = 0;         ///< coded like a child
        std::size_t first_leaf = 0;    ///< number of its first leaf among the leaves of the forest
        std::size_t first_linear = 0;  ///< number of its first leaf hyperplane in the table of its form
    };

    [[nodiscard]] static Form form_of(const TreeView& tree);
    [[nodiscard]] static Form leaf_form_of(const ForestTree& tree);
    void reserve(std::span<const ForestTree> trees);
    void pack(const ForestTree& tree);
    void pack_splits(const TreeView& tree, std::span<const std::int32_t> codes, Form form);
    void pack_leaves(const ForestTree& tree);
    [[nodiscard]] std::size_t n_splits(Form form) const;

    template <Design D, class Visit>
    void visit_leaves(const D& rows, std::size_t n_threads, const Visit& visit) const;
    template <Design D, class Visit>
    void visit_labels(const D& rows, std::size_t n_threads, const Visit& visit) const;
    template <class Block, class Visit>
    void walk_block(const Block& block, const Visit& visit) const;
    template <class Block>
    void walk_trees(const Block& block, Form form, std::span<const float* const> x, std::span<std::int32_t> at) const;
    template <class Dot>
    static void walk_entries(std::span<const PackedSplit> splits, std::span<std::int32_t> at, const Dot& dot);

    void linear_scores(const PackedTree& tree, std::size_t leaf, const float* x, std::span<double> scores) const;
    [[nodiscard]] std::span<const double> values_of(std::size_t leaf) const {
        return {leaf_values_.data() + leaf * n_outputs_, n_outputs_};
    }

    std::size_t n_features_, n_outputs_;
    bool is_padded_ = false;  ///< whether any tree reads padded rows
    std::vector<PackedTree> trees_;

    std::vector<PackedAxis> axis_splits_;
    std::vector<PackedSplit> sparse_splits_, padded_splits_;
    SparseTable sparse_w_, sparse_leaf_w_;
    ColumnMasks sparse_masks_;
    PaddedTable padded_w_, padded_leaf_w_;

    std::vector<std::int32_t> leaf_nodes_, leaf_labels_;
    std::vector<double> leaf_values_;
};

}  // namespace spinney
