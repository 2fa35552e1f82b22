#pragma once
/// Weighted distribution of the values of a column, in little space, of parts that are merged.
///
/// The values are cut into groups of neighbours; of a group its largest value and its weight are kept. The rank of a number v,
/// the weight of the values <= v, is then known up to the one group that v lies in, and never too high.

#include <cstddef>
#include <span>
#include <vector>

#include "spinney/design.hpp"
#include "spinney/table/columns.hpp"

namespace spinney {

/// Entries of a sketch at most. A column of no more distinct values is kept as it is.
inline constexpr std::size_t sketch_size = 8192;

struct Sketch {
    std::vector<float> values;    ///< ascending, distinct; 0 stands for -0
    std::vector<double> weights;  ///< of the group that ends with the value
    /// For any number: rank of the sketch <= rank of the rows <= rank of the sketch + rank_error.
    double rank_error = 0.0;
};

/// Both together. Shortened to sketch_size entries if it is longer, which adds at most 2 / sketch_size of its weight to the
/// sum of both errors. Exact up to the rounding of sums of weights as long as there are no more distinct values.
[[nodiscard]] Sketch merged(const Sketch& a, const Sketch& b);

/// Sketches of the blocks of rows, added in their order, to that of all rows. They are merged as neighbours of equal size, as
/// the digits of a binary number are carried, so that 2^k blocks are shortened k + 1 times, not 2^k times:
/// rank_error <= 2 (k + 1) / sketch_size of the weight, and at most twice that for less than 2^(k + 1) blocks.
class SketchStack {
  public:
    void add(Sketch block);
    /// The stack is empty after it.
    [[nodiscard]] Sketch total();

  private:
    struct Level {
        std::size_t height;
        Sketch sketch;
    };
    std::vector<Level> levels_;
};

/// Sketches of all columns that are numbers; those of levels stay empty. Rows of weight 0 and missing values (NaN, or a flag)
/// do not count. Depends on the order of the rows, and not on the number of threads or on the storage of the rows. Throws if a
/// value is infinite. Of sparse rows every coordinate is a column.
template <Design D>
[[nodiscard]] std::vector<Sketch> column_sketches(const D& rows, std::span<const TableColumn> columns,
                                                  std::span<const double> weights, std::size_t n_threads);

/// The same where every coordinate is a column.
template <Design D>
[[nodiscard]] std::vector<Sketch> column_sketches(const D& rows, std::span<const double> weights, std::size_t n_threads) {
    return column_sketches(rows, plain_columns(rows.n_features), weights, n_threads);
}

}  // namespace spinney
