#pragma once
/// The splits of a tree under training, each also in the form in which a row finds its side soonest: one coordinate, a few of
/// them, or the whole hyperplane. All forms give the same bits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spinney/design.hpp"

namespace spinney {

/// Splits of a tree as full hyperplanes over raw features, one row a split, each as wide as the rows of the table.
struct SplitTable {
    std::vector<float> weights;
    std::vector<double> bias;
};

/// A hyperplane of few weights: none sends all rows one way, one is a compare, several are a set of levels, or a number with the
/// side of its missing values.
struct ShortPlane {
    static constexpr std::uint32_t most = 4, too_many = most + 1;
    std::uint32_t size = 0;  ///< `too_many` stands for a hyperplane that is read as a whole
    std::array<std::uint32_t, most> columns{};
    std::array<float, most> weights{};

    [[nodiscard]] static ShortPlane of(std::span<const float> w);
    [[nodiscard]] bool is_short() const { return size <= most; }

    /// x . w, as `dot` of the whole hyperplane gives it: two numbers add up the same in any order, more of them by lanes.
    template <class T>
    [[nodiscard]] double dot(const T* x) const {
        const auto product = [&](std::size_t k) { return static_cast<float>(x[columns[k]]) * weights[k]; };
        if (size == 1) return static_cast<double>(product(0));
        if (size == 0) return 0.0;
        if (size == 2) return static_cast<double>(product(0) + product(1));
        LaneSum sum;
        for (std::size_t k = 0; k < size; ++k) sum.add(columns[k], product(k));
        return sum.total();
    }
};

/// Which side of one split rows are on.
template <Design D>
class SideOf {
  public:
    SideOf(const D& rows, std::span<const float> w, double bias, const ShortPlane& plane)
        : rows_(rows), w_(w), bias_(bias), short_(plane) {}
    SideOf(const D& rows, std::span<const float> w, double bias) : SideOf(rows, w, bias, ShortPlane::of(w)) {}

    [[nodiscard]] bool is_right(std::size_t n) const {
        if constexpr (!is_sparse<D>)
            if (short_.is_short()) return short_.dot(rows_.begin(n)) + bias_ >= 0.0;
        return rows_.dot(n, w_.data()) + bias_ >= 0.0;
    }

  private:
    const D& rows_;
    std::span<const float> w_;
    double bias_;
    ShortPlane short_;
};

/// Short forms of all splits of a tree.
class TypedSplits {
  public:
    void take(const SplitTable& table, std::size_t width);
    void take(std::size_t split, std::span<const float> w);
    /// Whether no split has to be read as a whole.
    [[nodiscard]] bool are_short() const { return n_long_ == 0; }
    [[nodiscard]] const ShortPlane& operator[](std::size_t split) const { return planes_[split]; }

  private:
    std::vector<ShortPlane> planes_;
    std::size_t n_long_ = 0;
};

/// Moves up to most_walk_rows rows from `at` to the leaves they reach, as walk_batch does.
template <Design D, class Index>
void walk_typed(const D& rows, std::span<const Index> numbers, const TypedSplits& typed, const SplitArrays& splits,
                std::span<std::int32_t> at) {
    if constexpr (!is_sparse<D>) {
        if (typed.are_short()) {
            for (std::size_t r = 0; r < numbers.size(); ++r) {
                const auto* x = rows.begin(numbers[r]);
                while (at[r] >= 0) {
                    const auto split = static_cast<std::size_t>(at[r]);
                    const double score = typed[split].dot(x) + splits.bias[split];
                    at[r] = splits.child[2 * split + static_cast<std::size_t>(score >= 0.0)];
                }
            }
            return;
        }
    }
    walk_batch(rows, numbers, splits, at);
}

}  // namespace spinney
