#pragma once
/// Arithmetic on rows: the only place (with src/simd) that cares about vector instructions.
///
/// Every sum runs over a fixed number of lanes in a fixed order, and products are never fused with
/// additions (the core is compiled with -ffp-contract=off). A loop over lanes is therefore the same
/// sequence of IEEE operations for SSE2, AVX2, AVX-512 or NEON, and results do not depend on the machine.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace spinney {

/// Lanes of a float sum. Entry j of a vector is always added to lane j % float_lanes, which makes
/// the sum over the non-zeros alone equal, bit for bit, to the sum over all entries.
inline constexpr std::size_t float_lanes = 32;

/// A dot product term by term, columns ascending: the same sum as `dot`.
class LaneSum {
  public:
    void add(std::size_t column, float product) { lanes_[column % float_lanes] += product; }
    /// To be called once: it folds the lanes in halves.
    [[nodiscard]] double total() {
        for (std::size_t half = float_lanes / 2; half >= 4; half /= 2)
            for (std::size_t i = 0; i < half; ++i) lanes_[i] += lanes_[i + half];
        return static_cast<double>((lanes_[0] + lanes_[2]) + (lanes_[1] + lanes_[3]));
    }

  private:
    std::array<float, float_lanes> lanes_{};
};

/// Splits of a tree for fast walking: split i has the hyperplane w + i * width of the rows; its children are
/// child[2 i] (left, score < 0) and child[2 i + 1]. A child >= 0 is a split, a child c < 0 the leaf ~c.
struct SplitArrays {
    const float* w;
    const double* bias;
    const std::int32_t* child;
};

/// Rows that walk best at once: a few wide ones fill the processor and the nearest cache.
inline constexpr std::size_t most_walk_rows = 16;
[[nodiscard]] constexpr std::size_t walk_rows(std::size_t width) { return width <= 32 ? most_walk_rows : 4; }

/// The splits of a packed forest, numbered through all its trees: a row starts at its tree's root and walks
/// with any number of others, of the same tree or not. Children are coded as in SplitArrays.
struct PackedSplit {
    double bias;
    std::int32_t child[2];
};
/// Hyperplanes as full rows of `stride` floats, zero behind the last column; rows are padded likewise.
struct PaddedSplits {
    const float* w;
    const PackedSplit* splits;
    std::size_t stride;  ///< see padded_size
};
/// Hyperplanes as their non-zeros: split i has the entries begin[i] .. begin[i + 1].
struct SparseSplits {
    const PackedSplit* splits;
    const std::size_t* begin;
    const std::int32_t* indices;
    const float* weights;
};
/// A hyperplane of one weight, or of none if the weight is 0.
struct PackedAxis {
    double bias;
    std::int32_t child[2];
    std::int32_t feature;
    float weight;
};

/// Floats of a padded row: narrow rows fill whole registers, wide rows whole cache lines.
[[nodiscard]] constexpr std::size_t padded_size(std::size_t n_features) {
    if (n_features <= 16) return n_features <= 8 ? 8 : 16;
    return n_features <= 32 ? 32 : (n_features + 15) / 16 * 16;
}

/// One vector per unknown of the streaming solver, all of length `size`, in raw feature space.
struct StreamVectors {
    float* w;                ///< hyperplane
    float* gradient;         ///< mean gradient of the table, times inverse scale
    const float* mean;       ///< column centres
    const float* metric;     ///< squared inverse scales: gradient step in raw space
    const float* threshold;  ///< l1 threshold of one row's step
    std::size_t size;
    float keep = 1.0F;  ///< factor of an l2 penalty in one row's step
};

/// Rows a block kernel handles at once; 64 standardised Letter rows fit the first-level cache.
inline constexpr std::size_t block_rows = 64;

/// Doubles of a standardised row of a block: whole vectors at every level, zero behind the last column.
[[nodiscard]] constexpr std::size_t block_stride(std::size_t n_features) { return (n_features + 7) / 8 * 8; }

/// A quadratic function of w with l1 penalties, as coordinate descent sees it: (w' H w) / 2 + ... + sum_j penalty_j |w_j|.
struct QuadraticModel {
    const double* hessian;    ///< symmetric, stride x stride
    const double* curvature;  ///< by which a single coordinate moves: the diagonal, or somewhat more
    const double* inverse;    ///< 1 / curvature
    const double* threshold;  ///< penalty / curvature
    double* w;
    double* gradient;  ///< of the smooth part at w
    std::size_t n_features, stride;
};

/// Kernels over dense rows: float32, or bytes where all values are whole numbers from 0 to 255. Wide rows wait for
/// memory, and bytes are a quarter of it. Both give the same bits, for bytes become floats exactly.
template <class T>
struct RowKernels {
    /// x . w over all entries.
    double (*dot)(std::span<const T> x, const float* w);

    /// Moves each row from `at` (coded like a child) to the leaf it reaches; at[r] ends as ~leaf.
    void (*walk)(std::span<const T* const> rows, std::size_t size, const SplitArrays& splits, std::span<std::int32_t> at);

    /// SAGA step over `count` (1 or 4) rows with slopes changed by `change`; returns w . mean after it.
    double (*stream_step)(const StreamVectors& v, const T* const rows[4], const float change[4], std::size_t count, float step,
                          float inverse_rows);
    /// gradient += metric * sum_k slope_k (row_k - mean) over `count` (1 or 4) rows.
    void (*add_gradient)(const StreamVectors& v, const T* const rows[4], const float slope[4], std::size_t count);

    /// z = (x - mean) * inverse_scale, in double.
    void (*standardise)(std::span<const T> x, const double* mean, const double* inverse_scale, double* z);
};

/// The kernels of one level of vector instructions; src/simd/table.hpp fills in all that is listed here.
struct Kernels {
    RowKernels<float> floats;
    RowKernels<std::uint8_t> bytes;

    /// x . w where x holds the entries at `indices` (ascending) of a vector; `w` is the whole vector.
    double (*sparse_dot)(std::span<const std::int32_t> indices, const float* values, const float* w);

    /// Moves row r from at[r] to the leaf it reaches, with the same bits in every score as `dot`.
    void (*walk_padded)(std::span<const float* const> rows, const PaddedSplits& forest, std::span<std::int32_t> at);
    void (*walk_sparse)(std::span<const float* const> rows, const SparseSplits& forest, std::span<std::int32_t> at);
    void (*walk_axis)(std::span<const float* const> rows, std::span<const PackedAxis> forest, std::span<std::int32_t> at);

    /// out[k] = x . w_k + bias[k] for consecutive padded rows w_k, with the same bits as `dot`.
    void (*padded_scores)(const float* x, const float* w, std::size_t stride, std::span<const double> bias, double* out);

    /// Scores to probabilities, in place: exp(s - max) over their sum, taken in order.
    void (*softmax)(std::span<double> scores);
    /// Probability and loss of logistic regression: p = 1/(1+exp(-t)), loss = log(1+exp(-t)).
    void (*logistic)(std::span<const double> t, double* p, double* loss);
    /// The probabilities alone, in place.
    void (*sigmoid)(std::span<double> t);

    // Blocks of standardised rows: Z is n_rows x stride, stride a `block_stride`.
    /// upper(H) += Z' W, what lies below the diagonal is undefined; W holds the weighted rows.
    void (*add_hessian)(const double* z, const double* weighted, std::size_t n_rows, std::size_t stride, double* hessian);
    /// W = diag(h) Z, sum += W' 1.
    void (*weigh_block)(const double* z, std::size_t n_rows, std::size_t stride, const double* h, double* weighted, double* sum);
    /// out[r] = z_r . w + bias for the rows of a block.
    void (*block_scores)(const double* z, std::size_t n_rows, std::size_t stride, const double* w, double bias, double* out);
    /// out += Z' slopes over the rows of a block.
    void (*add_block_gradient)(const double* z, std::size_t n_rows, std::size_t stride, const double* slopes, double* out);
    /// One pass of coordinate descent; returns the largest step^2 curvature.
    double (*descend)(const QuadraticModel& model);
};

/// Levels of vector instructions that this processor has, the best last; the one in use; and a choice of another,
/// which tests make to compare them. Unknown names change nothing. Not to be called while kernels run.
[[nodiscard]] std::vector<std::string_view> simd_levels();
[[nodiscard]] std::string_view simd_level();
void use_simd_level(std::string_view name);

namespace simd {
extern const Kernels* in_use;  // set when the library is loaded
}

/// Those of the level in use.
[[nodiscard]] inline const Kernels& kernels() { return *simd::in_use; }
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels() {
    if constexpr (std::same_as<T, float>)
        return kernels().floats;
    else
        return kernels().bytes;
}

[[nodiscard]] inline double dot(std::span<const float> x, const float* w) { return kernels().floats.dot(x, w); }
[[nodiscard]] inline double dot(std::span<const std::uint8_t> x, const float* w) { return kernels().bytes.dot(x, w); }
[[nodiscard]] inline double dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    return kernels().sparse_dot(indices, values, w);
}

/// The same in double precision, for sums that overflow float.
[[nodiscard]] double exact_dot(std::span<const float> x, const float* w);
[[nodiscard]] double exact_dot(std::span<const std::int32_t> indices, const float* values, const float* w);

}  // namespace spinney
