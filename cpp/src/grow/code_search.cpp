#include "grow/code_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "grow/code_scratch.hpp"
#include "grow/sides.hpp"
#include "sort_key.hpp"
#include "spinney/parallel.hpp"
#include "spinney/table/column_plane.hpp"

namespace spinney {
namespace {

constexpr std::size_t n_codes = 256;
/// Rows whose codes are asked for ahead: those of a node lie in no order that the processor could guess.
constexpr std::size_t rows_ahead = 24;
/// Between the bins of two columns, so that they do not ask for one and the same set of the cache.
constexpr std::size_t gap = 8;
/// Of so many levels in a node all sets are tried.
constexpr std::size_t most_enumerated = 8;
/// Columns that are drawn at once where none of the candidates parts the rows.
constexpr std::size_t columns_at_once = 8;

enum class Kind : std::uint8_t { none, threshold, missing, levels, value };

/// A cut that is considered. Of equal ones that of the column drawn first is taken, and then the lowest place.
struct Candidate {
    double cost = std::numeric_limits<double>::infinity();
    Kind kind = Kind::none;
    bool is_missing_right = false;
    std::size_t order = 0, column = 0;
    std::uint64_t place = 0;
    std::size_t low_bin = n_codes, high_bin = n_codes;  ///< next to a threshold between bins
    float low = 0, high = 0;                            ///< next to one within a bin; `high` is that of a cut by value
};

/// A column to be tried: a column of the table, or a coordinate of one that the tree may not read as a whole.
struct Task {
    std::size_t column;
    std::size_t order;  ///< in which it was drawn
};

/// Places ascend with the threshold: those within a bin come before that behind it. Missing values go left first.
std::uint64_t place_within(std::size_t bin, std::size_t rank, bool is_missing_right) {
    return std::uint64_t{bin + 1} << 33U | std::uint64_t{rank} << 1U | std::uint64_t{is_missing_right};
}
std::uint64_t place_behind(std::size_t bin, bool is_missing_right) { return place_within(bin, 0xFFFFFFFFU, is_missing_right); }

/// Bins of a column that have entries, ascending; that of missing values is apart.
struct PresentBins {
    std::array<std::uint8_t, n_codes> bins;
    std::size_t count = 0;
    bool has_missing = false;
    [[nodiscard]] std::span<const std::uint8_t> known() const { return {bins.data(), count}; }
};

/// Lists the flags that are set, and clears them.
void take_present(std::uint8_t* flags, PresentBins& out) {
    out.count = 0;
    out.has_missing = flags[missing_code] != 0;
    flags[missing_code] = 0;
    if constexpr (std::endian::native == std::endian::little) {
        for (std::size_t first = 0; first < n_codes; first += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, flags + first, 8);
            if (word == 0) continue;
            std::memset(flags + first, 0, 8);
            for (; word != 0; word &= word - 1)
                out.bins[out.count++] = static_cast<std::uint8_t>(first + static_cast<std::size_t>(std::countr_zero(word)) / 8);
        }
    } else {
        for (std::size_t bin = 0; bin < n_codes; ++bin) {
            if (flags[bin] == 0) continue;
            flags[bin] = 0;
            out.bins[out.count++] = static_cast<std::uint8_t>(bin);
        }
    }
}

template <DenseDesign D, class Sides>
class CodeSearch {
  public:
    CodeSearch(const GrowSite<D>& site, Sides sides, CodeScratch& scratch)
        : site_(site), codes_(*site.codes), coded_(site.codes->coded()), sides_(std::move(sides)), scratch_(scratch),
          stride_(n_codes * sides_.n_sums() + gap), rounding_(site.targets.rounding()) {
        if (scratch.sums.size() < stride_ * group_columns) scratch.sums.resize(stride_ * group_columns);
        if (scratch.present.size() < n_codes * group_columns) scratch.present.resize(n_codes * group_columns);
        if (scratch.is_tried.size() < coded_.n_columns()) scratch.is_tried.resize(coded_.n_columns());
    }

    /// Candidates, and more in the order in which they are drawn as long as none parts the rows.
    Hyperplane search(Random& random) {
        auto& drawn = scratch_.drawn;
        drawn.assign(site_.columns.begin(), site_.columns.end());
        random.draw_first(drawn.size(), std::span(drawn));
        const std::size_t n_wanted = std::min(site_.n_candidates, drawn.size());
        for (std::size_t first = 0; first < drawn.size() && (first < n_wanted || best_.kind == Kind::none);) {
            check_stop();
            const std::size_t count = first < n_wanted ? n_wanted : std::min(columns_at_once, drawn.size() - first);
            try_coordinates(std::span(drawn).subspan(first, count), first);
            first += count;
        }
        if (!codes_.are_plain())
            for (std::uint32_t coordinate : drawn) mark(coordinate, 0);
        return present();
    }

  private:
    // --- what was drawn ------------------------------------------------------------------------

    void mark(std::uint32_t coordinate, std::uint8_t flag) {
        const std::size_t column = coded_.column_of[coordinate];
        if (column < coded_.n_columns()) scratch_.is_tried[column] = flag;
    }

    void try_coordinates(std::span<const std::uint32_t> coordinates, std::size_t order) {
        tasks_.clear();
        for (std::uint32_t coordinate : coordinates) {
            const std::size_t column = coded_.column_of[coordinate];
            if (column == coded_.n_columns() || !codes_.is_whole(column)) {
                try_values(coordinate, order++);
                continue;
            }
            if (codes_.are_plain() || scratch_.is_tried[column] == 0) tasks_.push_back({column, order});
            if (!codes_.are_plain()) scratch_.is_tried[column] = 1;
            ++order;
        }
        std::ranges::sort(tasks_, {}, &Task::column);
        try_columns(tasks_);
    }

    void try_values(std::uint32_t coordinate, std::size_t order) {
        std::vector<float> values(site_.reach.size());
        gather_columns(site_.rows, site_.reach, std::span(&coordinate, 1), std::span(values));
        const Cut cut = site_.targets.best_cut(std::span<const float>(values));
        if (!cut.is_found) return;
        Candidate candidate{cut.cost, Kind::value, false, order, coordinate};
        candidate.high = cut.threshold;
        consider(candidate);
    }

    /// All columns by their bins, group after group, then what promises more.
    void try_columns(std::span<const Task> tasks) {
        scratch_.promises.clear();
        scratch_.promising.clear();
        scratch_.left_sums.clear();
        if (!tasks.empty()) ask_for_first_rows(coded_.codes.group_of(tasks[0].column));
        for (std::size_t first = 0; first < tasks.size();) {
            const ColumnGroup& group = coded_.codes.group_of(tasks[first].column);
            std::size_t last = first + 1;
            while (last < tasks.size() && tasks[last].column < group.first + group.width) ++last;
            if (last < tasks.size()) ask_for_first_rows(coded_.codes.group_of(tasks[last].column));
            sum_bins(group, tasks.subspan(first, last - first));
            for (std::size_t t = first; t < last; ++t) try_bins(tasks[t], t - first);
            first = last;
        }
        std::ranges::sort(scratch_.promising, [](const PromisingColumn& a, const PromisingColumn& b) {
            return a.bound != b.bound ? a.bound < b.bound : a.order < b.order;
        });
        for (const PromisingColumn& column : scratch_.promising) {
            if (!is_promising(column.bound)) break;
            look_within_bins(column);
        }
    }

    // --- sums of bins --------------------------------------------------------------------------

    void ask_for_first_rows(const ColumnGroup& group) const {
        const std::size_t count = std::min(rows_ahead, site_.reach.size());
        for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(group.codes + site_.reach[i] * group.width, 0, 3);
    }

    void sum_bins(const ColumnGroup& group, std::span<const Task> tasks) {
        constexpr auto sum_columns = []<std::size_t... k>(std::index_sequence<k...>) {
            return std::array{&CodeSearch::template sum_columns<k + 1>...};
        }(std::make_index_sequence<group_columns>());
        (this->*sum_columns[tasks.size() - 1])(group, tasks);
    }

    template <std::size_t n_columns>
    void sum_columns(const ColumnGroup& group, std::span<const Task> tasks) {
        std::array<std::size_t, n_columns> places{};
        for (std::size_t c = 0; c < n_columns; ++c) places[c] = tasks[c].column - group.first;
        // All that the loop reads is copied: flags are bytes, and a write to one could change anything else.
        const std::uint32_t* const reach = site_.reach.data();
        const std::uint8_t* const group_codes = group.codes;
        const std::size_t n = site_.reach.size(), group_width = group.width, width = sides_.n_sums(), stride = stride_;
        const typename Sides::Adder adder = sides_.adder();
        double* const sums = scratch_.sums.data();
        std::uint8_t* const present = scratch_.present.data();
        for (std::size_t i = 0; i < n; ++i) {
            check_stop_at(i);
            if (i + rows_ahead < n) __builtin_prefetch(group_codes + reach[i + rows_ahead] * group_width, 0, 3);
            const std::uint8_t* codes = group_codes + reach[i] * group_width;
            for (std::size_t c = 0; c < n_columns; ++c) {
                const std::size_t code = codes[places[c]];
                present[c * n_codes + code] = 1;
                adder.add(sums + c * stride + code * width, i);
            }
        }
    }

    [[nodiscard]] double* bin_of(double* sums, std::size_t bin) const { return sums + bin * sides_.n_sums(); }

    // --- one column by its bins ----------------------------------------------------------------

    void try_bins(const Task& task, std::size_t place) {
        double* const sums = scratch_.sums.data() + place * stride_;
        take_present(scratch_.present.data() + place * n_codes, present_);
        if (coded_.columns[task.column].is_number())
            try_numbers(task, sums);
        else
            try_levels(task, sums);
        for (std::uint8_t bin : present_.known()) std::fill_n(bin_of(sums, bin), sides_.n_sums(), 0.0);
        if (present_.has_missing) std::fill_n(bin_of(sums, missing_code), sides_.n_sums(), 0.0);
    }

    /// Thresholds between bins, with missing values on either side, and bounds on those within bins.
    void try_numbers(const Task& task, double* sums) {
        const std::size_t first = scratch_.promises.size();
        double bound = std::numeric_limits<double>::infinity();
        if (present_.has_missing) {
            sides_.start(bin_of(sums, missing_code));
            if (present_.count > 0) try_cut({0.0, Kind::missing, false, task.order, task.column});
            bound = try_borders(task, sums, false);
        }
        sides_.start(nullptr);
        bound = std::min(bound, try_borders(task, sums, true));
        if (scratch_.promises.size() > first)
            scratch_.promising.push_back({bound, task.column, task.order, first, scratch_.promises.size()});
    }

    /// Returns the least bound.
    double try_borders(const Task& task, double* sums, bool is_missing_right) {
        // A cut between two bins of one class is not as good as one of those around them, if these are allowed.
        const bool may_skip = !site_.targets.has_least_weight();
        double least = std::numeric_limits<double>::infinity();
        std::size_t last = n_codes;
        std::size_t last_class = Sides::no_class;
        for (std::size_t bin : present_.known()) {
            const double* const sum = bin_of(sums, bin);
            const std::size_t only = sides_.only_class(sum);
            const bool is_run = may_skip && only != Sides::no_class && only == last_class;
            if (last < n_codes && !is_run && is_good(sides_.cost())) {
                Candidate cut{0.0,        Kind::threshold, is_missing_right,
                              task.order, task.column,     place_behind(last, is_missing_right)};
                cut.low_bin = last;
                cut.high_bin = bin;
                try_cut(cut);
            }
            last = bin;
            last_class = only;
            if (coded_.is_single(task.column, bin) || !(may_skip ? only == Sides::no_class && sides_.may_have_cuts(sum) : true)) {
                sides_.move(sum);
                continue;
            }
            const std::size_t at = scratch_.left_sums.size();
            scratch_.left_sums.resize(at + sides_.n_sums());
            sides_.save(scratch_.left_sums.data() + at);
            const double bound = sides_.step(sum);
            if (is_promising(bound)) {
                scratch_.promises.push_back({bound, static_cast<std::uint8_t>(bin), is_missing_right, at});
                least = std::min(least, bound);
            } else {
                scratch_.left_sums.resize(at);
            }
        }
        return least;
    }

    // --- levels --------------------------------------------------------------------------------

    /// Missing values are one more level.
    void try_levels(const Task& task, double* sums) {
        std::array<std::uint8_t, n_codes> levels = present_.bins;
        std::size_t count = present_.count;
        if (present_.has_missing) levels[count++] = missing_code;
        const std::span here(levels.data(), count);
        if (count <= most_enumerated)
            try_sets(task, sums, here);
        else
            try_order(task, sums, here);
    }

    /// All sets of levels. Each set differs from that before in one level (Gray code); the last level stays right.
    void try_sets(const Task& task, double* sums, std::span<const std::uint8_t> levels) {
        if (levels.size() < 2) return;
        sides_.start(nullptr);
        std::uint32_t set = 0;
        for (std::uint32_t number = 1; number < 1U << (levels.size() - 1); ++number) {
            const auto level = static_cast<std::size_t>(std::countr_zero(number));
            set ^= 1U << level;
            sides_.move(bin_of(sums, levels[level]), (set >> level & 1U) != 0 ? 1.0 : -1.0);
            if (!try_cut({0.0, Kind::levels, false, task.order, task.column, set})) continue;
            best_sides_ = {};
            for (std::size_t k = 0; k < levels.size(); ++k)
                best_sides_[levels[k]] = k + 1 < levels.size() && (set >> k & 1U) != 0 ? Side::left : Side::right;
        }
    }

    /// Cuts of the levels in the order of their ranks: for two classes, or one number, the best set is among them.
    void try_order(const Task& task, double* sums, std::span<std::uint8_t> levels) {
        std::array<double, n_codes> ranks{};
        for (std::uint8_t level : levels) ranks[level] = sides_.rank_of(bin_of(sums, level));
        std::ranges::sort(levels,
                          [&](std::uint8_t a, std::uint8_t b) { return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : a < b; });
        sides_.start(nullptr);
        for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
            sides_.move(bin_of(sums, levels[k]));
            if (!try_cut({0.0, Kind::levels, false, task.order, task.column, k})) continue;
            best_sides_ = {};
            for (std::size_t j = 0; j < levels.size(); ++j) best_sides_[levels[j]] = j <= k ? Side::left : Side::right;
        }
    }

    // --- within bins ---------------------------------------------------------------------------

    void look_within_bins(const PromisingColumn& column) {
        std::array<bool, n_codes> is_wanted{};
        const auto promises = std::span(scratch_.promises).subspan(column.first, column.last - column.first);
        for (const Promise& promise : promises) is_wanted[promise.bin] = is_wanted[promise.bin] || is_promising(promise.bound);
        list_entries(column.column, is_wanted);
        for (const Promise& promise : promises) {
            if (!is_promising(promise.bound)) continue;
            const auto range = std::ranges::equal_range(scratch_.entries, promise.bin, {}, &CodedEntry::code);
            try_entries(column, promise, {range.begin(), range.end()});
        }
    }

    void list_entries(std::size_t column, const std::array<bool, n_codes>& is_wanted) {
        collect_entries(column, is_wanted);
        for (CodedEntry& entry : scratch_.entries) entry.key = sort_key(value_at(entry.key, column), entry.key);
        std::ranges::sort(scratch_.entries, {}, &CodedEntry::key);
    }

    /// Entries of some bins, by their numbers. Their values are asked for: each lies in a line of memory of its own.
    void collect_entries(std::size_t column, const std::array<bool, n_codes>& is_wanted) {
        const ColumnGroup& group = coded_.codes.group_of(column);
        const std::uint8_t* const codes = group.codes + (column - group.first);
        const std::size_t coordinate = coded_.columns[column].first;
        scratch_.entries.clear();
        for (std::size_t i = 0; i < site_.reach.size(); ++i) {
            check_stop_at(i);
            const std::uint8_t code = codes[site_.reach[i] * group.width];
            if (!is_wanted[code]) continue;
            __builtin_prefetch(site_.rows.begin(site_.reach[i]) + coordinate, 0, 3);
            scratch_.entries.push_back({i, code});
        }
    }

    void try_entries(const PromisingColumn& column, const Promise& promise, std::span<const CodedEntry> entries) {
        sides_.start(scratch_.left_sums.data() + promise.left);
        for (std::size_t k = 0; k + 1 < entries.size(); ++k) {
            sides_.move_entry(place_of(entries[k].key));
            if (value_bits(entries[k].key) == value_bits(entries[k + 1].key) || !is_good(sides_.cost())) continue;
            Candidate cut{0.0,          Kind::threshold, promise.is_missing_right,
                          column.order, column.column,   place_within(promise.bin, k, promise.is_missing_right)};
            cut.low = value_at(place_of(entries[k].key), column.column);
            cut.high = value_at(place_of(entries[k + 1].key), column.column);
            try_cut(cut);
        }
    }

    [[nodiscard]] static std::uint64_t value_bits(std::uint64_t key) { return key >> 32U; }
    /// -0 is 0: between the two lies no threshold.
    [[nodiscard]] float value_at(std::size_t i, std::size_t column) const {
        return static_cast<float>(site_.rows.begin(site_.reach[i])[coded_.columns[column].first]) + 0.0F;
    }

    // --- the best ------------------------------------------------------------------------------

    /// Whether a cost of at least this bound may still beat the best, or come before it.
    [[nodiscard]] bool is_promising(double bound) const { return bound <= best_.cost + 2.0 * rounding_; }

    /// Whether no cut is known that costs less: of most cuts no more is asked.
    [[nodiscard]] bool is_good(double cost) const { return cost <= best_.cost + rounding_; }
    /// Considers where the sides are now; whether it is the best so far.
    bool try_cut(Candidate candidate) {
        candidate.cost = sides_.cost();
        if (!is_good(candidate.cost) || !site_.targets.allows(sides_.left_weight(), sides_.right_weight())) return false;
        return consider(candidate);
    }
    bool consider(const Candidate& candidate) {
        const bool is_earlier = candidate.order != best_.order ? candidate.order < best_.order : candidate.place < best_.place;
        const bool is_better = candidate.cost < best_.cost - rounding_ ||
                               (candidate.cost <= best_.cost + rounding_ && (best_.kind == Kind::none || is_earlier));
        if (is_better) best_ = candidate;
        return is_better;
    }

    [[nodiscard]] Hyperplane present() {
        if (best_.kind == Kind::none) return {};
        const TableColumn* column = best_.kind == Kind::value ? nullptr : &coded_.columns[best_.column];
        if (best_.kind == Kind::value)
            return {{static_cast<std::uint32_t>(best_.column)}, {1.0F}, -static_cast<double>(best_.high)};
        if (best_.kind == Kind::missing) return plane_of_missing(*column, false);
        if (best_.kind == Kind::levels) return plane_of_levels(*column, best_sides_);
        const bool has_missing = find_neighbours();
        const Side missing = best_.is_missing_right ? Side::right : Side::left;
        return plane_of_threshold(coded_, best_.column, best_.low, best_.high, true, has_missing ? missing : Side::any);
    }

    /// The values next to a threshold between bins; whether the column has missing values.
    bool find_neighbours() {
        const std::size_t column = best_.column;
        std::array<bool, n_codes> is_wanted{};
        is_wanted[missing_code] = coded_.columns[column].flag != TableColumn::no_flag;
        const bool is_border = best_.low_bin < n_codes;
        if (is_border && coded_.is_exact(column)) {
            best_.low = coded_.bin_values[column][best_.low_bin];
            best_.high = coded_.bin_values[column][best_.high_bin];
        } else if (is_border) {
            best_.low = -std::numeric_limits<float>::infinity();
            best_.high = std::numeric_limits<float>::infinity();
            is_wanted[best_.low_bin] = is_wanted[best_.high_bin] = true;
        }
        if (std::ranges::none_of(is_wanted, std::identity())) return false;
        collect_entries(column, is_wanted);
        bool has_missing = false;
        for (const CodedEntry& entry : scratch_.entries) {
            has_missing = has_missing || entry.code == missing_code;
            if (entry.code == best_.low_bin) best_.low = std::max(best_.low, value_at(entry.key, column));
            if (entry.code == best_.high_bin) best_.high = std::min(best_.high, value_at(entry.key, column));
        }
        return has_missing;
    }

    const GrowSite<D>& site_;
    const SampleCodes& codes_;
    const CodedColumns& coded_;
    Sides sides_;
    CodeScratch& scratch_;
    std::size_t stride_;
    double rounding_;
    std::vector<Task> tasks_;
    PresentBins present_;
    Candidate best_;
    CodeSides best_sides_{};
};

template <class Sides, DenseDesign D, class Targets>
Hyperplane search_by(const GrowSite<D>& site, const Targets& targets, CodeScratch& scratch, Random& random) {
    return CodeSearch<D, Sides>(site, Sides(targets), scratch).search(random);
}

/// The classes that the node has, numbered anew: deep nodes have few of many.
ClassTargets present_classes(const NodeTargets& targets, CodeScratch& scratch) {
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    scratch.label_of_class.assign(targets.n_outputs(), none);
    scratch.totals.clear();
    for (std::size_t k = 0; k < targets.n_outputs(); ++k) {
        if (!(targets.totals()[k] > 0.0)) continue;
        scratch.label_of_class[k] = static_cast<std::uint32_t>(scratch.totals.size());
        scratch.totals.push_back(targets.totals()[k]);
    }
    if (scratch.totals.size() == targets.n_outputs())
        return {targets.labels(), targets.weights(), targets.totals(), targets.total_weight()};
    scratch.labels.resize(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) scratch.labels[i] = scratch.label_of_class[targets.label(i)];
    return {scratch.labels, targets.weights(), scratch.totals, targets.total_weight()};
}

template <DenseDesign D>
Hyperplane search_classes(const GrowSite<D>& site, CodeScratch& scratch, Random& random) {
    const ClassTargets targets = present_classes(site.targets, scratch);
    const bool are_two = targets.totals.size() == 2;
    if (site.targets.impurity() == Impurity::gini)
        return are_two ? search_by<GiniSides<2>>(site, targets, scratch, random)
                       : search_by<GiniSides<0>>(site, targets, scratch, random);
    if (!site.targets.has_whole_weights()) return search_by<EntropySides<false, 0>>(site, targets, scratch, random);
    return are_two ? search_by<EntropySides<true, 2>>(site, targets, scratch, random)
                   : search_by<EntropySides<true, 0>>(site, targets, scratch, random);
}

template <DenseDesign D>
Hyperplane search_numbers(const GrowSite<D>& site, CodeScratch& scratch, Random& random) {
    return site.targets.n_outputs() == 1 ? search_by<NumberSides<1>>(site, site.targets, scratch, random)
                                         : search_by<NumberSides<0>>(site, site.targets, scratch, random);
}

}  // namespace

template <DenseDesign D>
Hyperplane best_coded_axis(const GrowSite<D>& site, Random& random) {
    auto scratch = site.codes->lend();
    Hyperplane best =
        site.targets.has_classes() ? search_classes(site, *scratch, random) : search_numbers(site, *scratch, random);
    site.codes->take_back(std::move(scratch));
    return best;
}

template Hyperplane best_coded_axis(const GrowSite<DenseRows>&, Random&);
template Hyperplane best_coded_axis(const GrowSite<ByteRows>&, Random&);

}  // namespace spinney
