/// [S] Gabidolla, Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost"; [F] Carreira-Perpiñán, Gabidolla and
/// Zharmagambetov, "Forest Alternating Optimization".

#include "spinney/solve_column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sort_key.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/block.hpp"
#include "spinney/table/column_plane.hpp"
#include "spinney/table/histogram.hpp"

namespace spinney {
namespace {

/// So few rows are sorted at once: to pass over all bins would take longer.
constexpr std::size_t few_rows = 32;
constexpr std::size_t n_codes = 256;

/// Splits that differ by a smaller share of all weight are equal, and the first is taken: a row of weight k must do as k copies.
constexpr double rounding_share = 1e-12;

enum class Kind : std::uint8_t { constant, threshold, levels, missing };

/// A split that is considered. The order of candidates is that of their columns, then of their places.
struct Candidate {
    double cost;
    Kind kind = Kind::constant;
    std::size_t column = 0;
    std::size_t place = 0;                              ///< of a threshold, ascending with it
    bool is_up = false;                                 ///< larger values, or missing ones, go right
    float low = 0, high = 0;                            ///< values next to the threshold, if they are known
    std::size_t low_bin = n_codes, high_bin = n_codes;  ///< else their bins
};

/// Weighted 0/1 loss ([S] eq. (4)) of a cut, given what lies below it and in all: larger values go right, or left.
double cost_up(const Pull& below, const Pull& all) { return below.right + (all.left - below.left); }
double cost_down(const Pull& below, const Pull& all) { return below.left + (all.right - below.right); }
/// Of what is free to choose its side.
double cost_free(const Pull& pull) { return std::min(pull.left, pull.right); }

/// A care point whose column is looked at by value.
struct Entry {
    std::uint64_t key;  ///< value above, place among the care points below
    float value;
    std::uint8_t code;
};

template <DenseDesign D>
class ColumnSearch {
  public:
    ColumnSearch(const D& rows, const CodedColumns& coded, const ReducedProblem& problem, double alpha)
        : rows_(rows), coded_(coded), problem_(problem), alpha_(alpha) {
        for_each_block_segment(problem.rows, [&](std::size_t first, std::size_t last) {
            Pull block;
            for (std::size_t i = first; i < last; ++i) block += pull_of(i);
            all_ += block;
        });
        rounding_ = rounding_share * (all_.left + all_.right);
        best_.cost = cost_free(all_);
        best_.is_up = all_.left <= all_.right;
    }

    ColumnSplit search(std::span<const std::uint8_t> wanted, std::size_t n_threads) {
        if (problem_.rows.size() < few_rows) {
            search_all(wanted, [&](std::size_t c) { return sum_bins(c); });
            return present();
        }
        const std::vector<Pull> all =
            pull_histogram(coded_.codes, wanted, problem_.rows, problem_.labels, problem_.weights, n_threads);
        search_all(wanted,
                   [&](std::size_t c) { return std::span(all).subspan(coded_.begin[c], coded_.begin[c + 1] - coded_.begin[c]); });
        return present();
    }

  private:
    [[nodiscard]] Pull pull_of(std::size_t i) const {
        return problem_.labels[i] < 0 ? Pull{problem_.weights[i], 0.0} : Pull{0.0, problem_.weights[i]};
    }
    [[nodiscard]] bool is_earlier(const Candidate& a, const Candidate& b) const {
        if (b.kind == Kind::constant) return false;
        return a.column != b.column ? a.column < b.column : a.place < b.place;
    }
    void consider(Candidate candidate) {
        candidate.cost += alpha_;
        if (candidate.cost < best_.cost - rounding_ || (candidate.cost <= best_.cost + rounding_ && is_earlier(candidate, best_)))
            best_ = candidate;
    }

    // --- all columns ---------------------------------------------------------------------------

    /// bins_of(c) are the sums of a column, missing values last.
    template <class BinsOf>
    void search_all(std::span<const std::uint8_t> wanted, const BinsOf& bins_of) {
        struct Promise {
            double bound;
            std::size_t column;
        };
        std::vector<Promise> promises;
        for (std::size_t c = 0; c < coded_.n_columns(); ++c) {
            if (wanted[c] == 0) continue;
            const std::span<const Pull> bins = bins_of(c);
            if (!coded_.columns[c].is_number()) {
                try_levels(c, bins);
                continue;
            }
            try_missing(c, bins);
            promises.push_back({try_borders(c, bins), c});
        }
        std::ranges::stable_sort(promises, {}, &Promise::bound);
        for (const Promise& promise : promises) {
            if (!is_promising(promise.bound)) break;
            look_within_bins(promise.column, bins_of(promise.column));
        }
    }

    /// Sums of one column for few rows; they last until the next call.
    std::span<const Pull> sum_bins(std::size_t column) {
        few_bins_.fill({});
        for (std::size_t i = 0; i < problem_.rows.size(); ++i) few_bins_[code(i, column)] += pull_of(i);
        const std::size_t n_bins = coded_.codes.n_bins()[column];
        few_bins_[n_bins] = few_bins_[missing_code];
        return {few_bins_.data(), n_bins + 1};
    }

    /// Whether a cost of at least this bound may still beat the best, or come before it.
    [[nodiscard]] bool is_promising(double bound) const { return bound + alpha_ <= best_.cost + rounding_; }

    // --- one column of numbers -----------------------------------------------------------------

    [[nodiscard]] std::uint8_t code(std::size_t i, std::size_t column) const { return coded_.codes.at(problem_.rows[i], column); }
    /// What is not missing.
    [[nodiscard]] static Pull known(std::span<const Pull> bins) {
        Pull sum;
        for (const Pull& bin : bins.first(bins.size() - 1)) sum += bin;
        return sum;
    }

    /// Missing values one way, all others the other way.
    void try_missing(std::size_t column, std::span<const Pull> bins) {
        const Pull& missing = bins.back();
        if (missing.is_empty()) return;
        const Pull others = known(bins);
        const double up = missing.left + others.right;
        const double down = missing.right + others.left;
        consider({std::min(up, down), Kind::missing, column, 0, up <= down + rounding_});
    }

    void try_threshold(Candidate candidate, const Pull& below, const Pull& others, double cost_of_missing) {
        const double up = cost_up(below, others);
        const double down = cost_down(below, others);
        candidate.is_up = up <= down + rounding_;
        candidate.cost = std::min(up, down) + cost_of_missing;
        consider(candidate);
    }

    /// Places of thresholds: 1 + that of the bin below for those between bins; within a bin, counted among them.
    [[nodiscard]] std::size_t place_behind(std::size_t bin) const { return (bin + 1) * (problem_.rows.size() + 1); }

    /// Thresholds between bins; returns the least bound on those within bins.
    double try_borders(std::size_t column, std::span<const Pull> bins) {
        const Pull others = known(bins);
        const double cost_of_missing = cost_free(bins.back());
        const bool is_exact = coded_.is_exact(column);
        double bound = std::numeric_limits<double>::infinity();
        Pull below;
        std::size_t last = n_codes;
        for (std::size_t k = 0; k + 1 < bins.size(); ++k) {
            if (bins[k].is_empty()) continue;
            if (last < n_codes)
                try_threshold({0.0, Kind::threshold, column, place_behind(last), false, 0, 0, last, k}, below, others,
                              cost_of_missing);
            if (!is_exact) bound = std::min(bound, bound_within(below, bins[k], others));
            below += bins[k];
            last = k;
        }
        return bound + cost_of_missing;
    }

    /// Least cost that a threshold among the rows of a bin can have: what it would be if all rows on the wrong side of it came
    /// first. Where all rows of a bin want the same side, none is better than both of its borders.
    [[nodiscard]] static double bound_within(const Pull& below, const Pull& bin, const Pull& others) {
        if (bin.left == 0.0 || bin.right == 0.0) return std::numeric_limits<double>::infinity();
        return std::min(cost_up(below, others) - bin.left, cost_down(below, others) - bin.right);
    }

    /// Thresholds between the values of bins that promise something.
    void look_within_bins(std::size_t column, std::span<const Pull> bins) {
        const Pull others = known(bins);
        const double cost_of_missing = cost_free(bins.back());
        std::array<bool, n_codes> is_looked_at{};
        Pull below;
        for (std::size_t k = 0; k + 1 < bins.size(); ++k) {
            is_looked_at[k] = is_promising(bound_within(below, bins[k], others) + cost_of_missing);
            below += bins[k];
        }
        const std::vector<Entry> entries = list_entries(column, is_looked_at);
        below = {};
        std::size_t first = 0;  // entry of the bin
        for (std::size_t k = 0; k + 1 < bins.size(); ++k) {
            std::size_t last = first;
            Pull here = below;
            for (; last < entries.size() && entries[last].code == k; ++last) {
                if (last > first && entries[last - 1].value < entries[last].value)
                    try_threshold({0.0, Kind::threshold, column, place_behind(k) - problem_.rows.size() - 1 + (last - first),
                                   false, entries[last - 1].value, entries[last].value},
                                  here, others, cost_of_missing);
                here += pull_of(place_of(entries[last].key));
            }
            first = last;
            below += bins[k];
        }
    }

    [[nodiscard]] std::vector<Entry> list_entries(std::size_t column, const std::array<bool, n_codes>& is_looked_at) const {
        std::vector<Entry> entries;
        for (std::size_t i = 0; i < problem_.rows.size(); ++i) {
            check_stop_at(i);
            const std::uint8_t bin = code(i, column);
            if (!is_looked_at[bin]) continue;
            const float value = value_at(i, column);
            entries.push_back({sort_key(value, i), value, bin});
        }
        std::ranges::sort(entries, {}, &Entry::key);
        return entries;
    }
    /// -0 is 0: between the two lies no threshold.
    [[nodiscard]] float value_at(std::size_t i, std::size_t column) const {
        return static_cast<float>(rows_.begin(problem_.rows[i])[coded_.columns[column].first]) + 0.0F;
    }

    // --- one column of levels ------------------------------------------------------------------

    /// Levels do not depend on each other: each goes where most of its weight wants to go.
    void try_levels(std::size_t column, std::span<const Pull> bins) {
        double cost = 0.0;
        bool has_left = false, has_right = false;
        for (const Pull& bin : bins) {
            cost += cost_free(bin);
            has_left = has_left || bin.left > bin.right + rounding_;
            has_right = has_right || bin.right > bin.left + rounding_;
        }
        if (has_left && has_right) consider({cost, Kind::levels, column});
    }

    // --- the best as a hyperplane --------------------------------------------------------------

    [[nodiscard]] ColumnSplit present() {
        ColumnSplit split{{}, best_.cost};
        split.plane.bias = best_.is_up ? 1.0 : -1.0;
        if (best_.kind == Kind::constant) return split;
        if (best_.kind == Kind::levels)
            split.plane = plane_of_levels(best_column(), sides_of_best());
        else if (best_.kind == Kind::missing)
            split.plane = plane_of_missing(best_column(), best_.is_up);
        else
            split.plane = threshold();
        return split;
    }

    [[nodiscard]] const TableColumn& best_column() const { return coded_.columns[best_.column]; }

    /// Pull of the care points with each code of the best column.
    [[nodiscard]] std::array<Pull, n_codes> pulls_of_best() const {
        std::array<Pull, n_codes> bins{};
        for (std::size_t i = 0; i < problem_.rows.size(); ++i) bins[code(i, best_.column)] += pull_of(i);
        return bins;
    }

    /// Where each code of the best column wants to go.
    [[nodiscard]] CodeSides sides_of_best() const {
        const auto bins = pulls_of_best();
        CodeSides sides{};
        for (std::size_t code = 0; code < n_codes; ++code) sides[code] = side_of(bins[code]);
        return sides;
    }
    [[nodiscard]] Side side_of(const Pull& pull) const {
        if (std::fabs(pull.left - pull.right) <= rounding_) return Side::any;
        return pull.right > pull.left ? Side::right : Side::left;
    }

    [[nodiscard]] Hyperplane threshold() {
        find_neighbours();
        const bool has_flag = best_column().flag != TableColumn::no_flag;
        return plane_of_threshold(coded_, best_.column, best_.low, best_.high, best_.is_up,
                                  has_flag ? side_of(pulls_of_best()[missing_code]) : Side::any);
    }

    /// The values next to a threshold between two bins.
    void find_neighbours() {
        if (best_.low_bin == n_codes) return;
        if (coded_.is_exact(best_.column)) {
            best_.low = coded_.bin_values[best_.column][best_.low_bin];
            best_.high = coded_.bin_values[best_.column][best_.high_bin];
            return;
        }
        best_.low = -std::numeric_limits<float>::infinity();
        best_.high = std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i < problem_.rows.size(); ++i) {
            check_stop_at(i);
            const std::size_t bin = code(i, best_.column);
            if (bin == best_.low_bin) best_.low = std::max(best_.low, value_at(i, best_.column));
            if (bin == best_.high_bin) best_.high = std::min(best_.high, value_at(i, best_.column));
        }
    }

    const D& rows_;
    const CodedColumns& coded_;
    const ReducedProblem& problem_;
    double alpha_;
    Pull all_;
    double rounding_ = 0.0;
    Candidate best_{};
    std::array<Pull, n_codes> few_bins_{};
};

}  // namespace

template <DenseDesign D>
ColumnSplit solve_column(const D& rows, const CodedColumns& coded, const ReducedProblem& problem, double alpha,
                         std::span<const std::uint8_t> wanted, std::size_t n_threads) {
    return ColumnSearch<D>(rows, coded, problem, alpha).search(wanted, n_threads);
}

template ColumnSplit solve_column(const DenseRows&, const CodedColumns&, const ReducedProblem&, double,
                                  std::span<const std::uint8_t>, std::size_t);
template ColumnSplit solve_column(const ByteRows&, const CodedColumns&, const ReducedProblem&, double,
                                  std::span<const std::uint8_t>, std::size_t);

}  // namespace spinney
