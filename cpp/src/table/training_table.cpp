#include "spinney/table/training_table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "spinney/parallel.hpp"
#include "spinney/table/histogram.hpp"

namespace spinney {
namespace {

/// Bins of the levels of a column, that of rows of no level last; 0 for a column of numbers.
std::vector<std::uint8_t> level_counts(std::span<const TableColumn> columns) {
    std::vector<std::uint8_t> counts;
    for (const TableColumn& column : columns) {
        if (column.n_levels + 1 > max_bins) throw std::invalid_argument("a column has more levels than there are codes");
        counts.push_back(static_cast<std::uint8_t>(column.is_number() ? 0 : column.n_levels + 1));
    }
    return counts;
}

/// Bins of one value are never looked at value by value, however many rows they have.
template <DenseDesign D>
void find_single_bins(const D& rows, CodedColumns& out, std::size_t n_threads) {
    out.single.assign(out.begin.back(), 1);
    const auto groups = out.codes.groups();
    parallel_for(groups.size(), n_threads, [&](std::size_t g) {
        const ColumnGroup& group = groups[g];
        std::vector<float> first_value(group.width * max_bins, std::numeric_limits<float>::quiet_NaN());
        for (std::size_t n = 0; n < rows.n_rows; ++n) {
            check_stop_at(n);
            for (std::size_t k = 0; k < group.width; ++k) {
                const std::uint8_t code = group.codes[n * group.width + k];
                const TableColumn& column = out.columns[group.first + k];
                if (code == missing_code || !column.is_number()) continue;
                const auto x = static_cast<float>(rows.begin(n)[column.first]);
                float& first = first_value[k * max_bins + code];
                if (first == x) continue;
                if (first == first) out.single[out.begin[group.first + k] + code] = 0;
                first = x;
            }
        }
    });
}

/// What stands for missing numbers in their coordinates.
template <DenseDesign D>
void find_missing_range(const D& rows, CodedColumns& out) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const TableColumn& column : out.columns) {
        float low = infinity, high = -infinity;
        if (column.flag != TableColumn::no_flag)
            for (std::size_t n = 0; n < rows.n_rows; ++n) {
                check_stop_at(n);
                if (rows.begin(n)[column.flag] == 0) continue;
                const auto x = static_cast<float>(rows.begin(n)[column.first]);
                low = std::min(low, x);
                high = std::max(high, x);
            }
        out.missing_low.push_back(low <= high ? low : 0.0F);
        out.missing_high.push_back(low <= high ? high : 0.0F);
    }
}

std::vector<std::uint32_t> columns_of_coordinates(std::span<const TableColumn> columns, std::size_t n_features) {
    std::vector<std::uint32_t> out(n_features, static_cast<std::uint32_t>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
        std::fill_n(out.begin() + columns[c].first, columns[c].n_coordinates(), static_cast<std::uint32_t>(c));
        if (columns[c].flag != TableColumn::no_flag)
            out[static_cast<std::size_t>(columns[c].flag)] = static_cast<std::uint32_t>(c);
    }
    return out;
}

template <DenseDesign D>
CodedColumns make_codes(const D& rows, std::vector<TableColumn> columns, std::span<const double> weights, std::size_t n_threads) {
    const std::vector<double> ones(weights.empty() ? rows.n_rows : 0, 1.0);
    const std::vector<Sketch> sketches = column_sketches(rows, columns, weights.empty() ? ones : weights, n_threads);
    const Edges edges = find_edges(sketches, level_counts(columns), max_bins);
    Codes codes = code_rows(rows, columns, edges, n_threads);
    CodedColumns out{std::move(columns), std::move(codes), {}, {}, {}, {}, {}, {}};
    out.begin = histogram_begin(out.codes);
    for (std::size_t c = 0; c < out.n_columns(); ++c) {
        const auto& values = sketches[c].values;
        out.bin_values.push_back(out.columns[c].is_number() && values.size() <= max_bins ? values : std::vector<float>());
    }
    find_single_bins(rows, out, n_threads);
    find_missing_range(rows, out);
    out.column_of = columns_of_coordinates(out.columns, rows.n_features);
    return out;
}

template <SparseDesign D>
CodedColumns make_codes(const D&, const std::vector<TableColumn>&, std::span<const double>, std::size_t) {
    throw std::logic_error("sparse rows have no codes here; search their entries");
}

}  // namespace

TrainingTable::TrainingTable(const AnyRows& rows)
    : TrainingTable(rows, plain_columns(std::visit([](const auto& d) { return d.n_features; }, rows)), {}) {}

TrainingTable::TrainingTable(const AnyRows& rows, std::vector<TableColumn> columns, std::span<const double> weights)
    : rows_(rows), columns_(std::move(columns)), weights_(weights) {}

const CodedColumns& TrainingTable::codes(std::size_t n_threads) const {
    const std::scoped_lock lock(mutex_);
    if (!codes_)
        codes_ = std::make_unique<const CodedColumns>(
            std::visit([&](const auto& rows) { return make_codes(rows, columns_, weights_, n_threads); }, rows_));
    return *codes_;
}

std::shared_ptr<const std::vector<float>> TrainingTable::squared_norms(const Scaling& scaling, std::size_t n_threads) const {
    std::vector<double> scales(scaling.mean);
    scales.insert(scales.end(), scaling.inverse_scale.begin(), scaling.inverse_scale.end());
    const std::scoped_lock lock(mutex_);
    if (!norms_ || scales != scales_) {
        norms_ = std::make_shared<const std::vector<float>>(
            std::visit([&](const auto& rows) { return spinney::squared_norms(rows, scaling, n_threads); }, rows_));
        scales_ = std::move(scales);
    }
    return norms_;
}

}  // namespace spinney
