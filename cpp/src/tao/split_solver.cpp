/// [B] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees"; [S] Gabidolla, Zharmagambetov and
/// Carreira-Perpiñán, "Improved multiclass AdaBoost"; [F] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Forest Alternating
/// Optimization".

#include "spinney/tao/split_solver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gathered_rows.hpp"
#include "spinney/parallel.hpp"
#include "spinney/solve_axis.hpp"
#include "spinney/solve_column.hpp"
#include "spinney/table/block.hpp"
#include "spinney/tao/typed_splits.hpp"
#include "streams.hpp"

namespace spinney {

namespace {

/// How far ahead rows are asked for: they are far apart in memory.
constexpr std::size_t rows_ahead = 8;

}  // namespace

template <Design D>
SplitSolver<D>::SplitSolver(const TrainingTable& table, const Scaling& scaling, std::span<const double> sample_weights,
                            const OptimizerOptions& options)
    : rows_(std::get<D>(table.rows())), scaling_(scaling),
      norms_(rows_.n_features > options.solver.newton_limit ? table.squared_norms(scaling, options.n_threads) : nullptr),
      coded_(!is_sparse<D> && options.split == SplitKind::axis ? &table.codes(options.n_threads) : nullptr),
      sample_weights_(sample_weights), options_(options) {}

template <Design D>
void SplitSolver<D>::propose(const SplitTask& task, const CarePoints& care, std::span<float> w, double& bias) const {
    if (care.are_one_sided()) {
        std::ranges::fill(w, 0.0F);
        bias = !care.labels.empty() && care.labels[0] > 0 ? 1.0 : -1.0;
    } else if (coded_ != nullptr) {
        solve_in_table(task, care, w, bias);
    } else if (draws_columns()) {
        solve_in_columns(columns_of(task.node), task, care, w, bias);
    } else {
        solve(View<D>{rows_, scaling_, norms(), care.rows}, task, care, w, bias);
    }
}

template <Design D>
template <Design Any>
void SplitSolver<D>::solve(const View<Any>& view, const SplitTask& task, const CarePoints& care, std::span<float> w,
                           double& bias) const {
    if (options_.split == SplitKind::axis)
        solve_axis_split(view, care, w, bias);
    else
        solve_surrogate(view, task, care, w, bias);
}

/// The least value of [S] eq. (4) over the columns of a table, with sets of levels and a side for missing values. A column takes
/// part if any of its coordinates is drawn.
template <Design D>
void SplitSolver<D>::solve_in_table(const SplitTask& task, const CarePoints& care, std::span<float> w, double& bias) const {
    std::vector<std::uint8_t> wanted(coded_->n_columns(), draws_columns() ? 0 : 1);
    if (draws_columns())
        for (std::uint32_t coordinate : columns_of(task.node)) wanted[coded_->column_of[coordinate]] = 1;
    if constexpr (!is_sparse<D>) {
        const ColumnSplit split =
            solve_column(rows_, *coded_, {care.rows, care.labels, care.weights}, options_.solver.alpha, wanted, task.n_threads);
        std::ranges::fill(w, 0.0F);
        for (std::size_t k = 0; k < split.plane.columns.size(); ++k) w[split.plane.columns[k]] = split.plane.weights[k];
        bias = split.plane.bias;
    }
}

template <Design D>
bool SplitSolver<D>::reads_one_column(std::span<const float> w) const {
    std::size_t n_columns = 0;
    for (std::size_t j = 0, last = coded_->n_columns(); j < coded_->column_of.size(); ++j) {
        if (w[j] == 0.0F || coded_->column_of[j] == last) continue;
        last = coded_->column_of[j];
        ++n_columns;
    }
    return n_columns <= 1;
}

/// An axis-aligned split may have several weights in one column of a table.
template <Design D>
void SplitSolver<D>::keep_to_limit(std::span<float> w, double& bias) const {
    if (most_weights() == 0 || (coded_ != nullptr && reads_one_column(w))) return;
    scaling_.keep_largest(most_weights(), w, bias);
}

/// The least value of [S] eq. (4), found by enumeration ([F] section 3, "axis-aligned splits").
template <Design D>
template <Design Any>
void SplitSolver<D>::solve_axis_split(const View<Any>& view, const CarePoints& care, std::span<float> w, double& bias) const {
    const AxisSplit split = solve_axis(view.rows, {view.numbers, care.labels, care.weights}, options_.solver.alpha);
    std::ranges::fill(w, 0.0F);
    if (split.feature >= 0) w[static_cast<std::size_t>(split.feature)] = split.sign;
    bias = split.bias;
}

/// The logistic loss in place of the 0/1 loss of [S] eq. (4), with the same l1 penalty ([B] section 3).
template <Design D>
template <Design Any>
void SplitSolver<D>::solve_surrogate(const View<Any>& view, const SplitTask& task, const CarePoints& care, std::span<float> w,
                                     double& bias) const {
    // Loss differences have any unit; the surrogate sees weights whose sum is that of the sample weights,
    // so that alpha means the same at every node and under every loss.
    const double sample_weight = sum_by_block(care.rows, [&](std::size_t i) { return sample_weights_[care.rows[i]]; });
    const double total = sum_by_block(care.rows, [&](std::size_t i) { return care.weights[i]; });
    std::vector<double> weights(care.weights);
    for (double& weight : weights) weight *= sample_weight / total;
    LinearOptions solver = options_.solver;
    // The ridge is a share of the squared length of a row, which shrinks with the columns.
    solver.ridge *= static_cast<double>(view.rows.n_features) / static_cast<double>(rows_.n_features);
    solver.n_threads = task.n_threads;
    solve_linear(view.rows, view.scaling, view.norms, WeightedRows{view.numbers, weights, care.rows}, LogisticLink(care.labels),
                 solver, Random(options_.seed, task.sweep, task.node), w, bias);
}

template <Design D>
void SplitSolver<D>::solve_in_columns(std::span<const std::uint32_t> columns, const SplitTask& task, const CarePoints& care,
                                      std::span<float> w, double& bias) const {
    const GatheredRows<D> gathered(rows_, care.rows, columns);
    const auto& part = gathered.part;
    std::vector<std::uint32_t> numbers(care.rows.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::vector<double> mean, inverse_scale, deviation;
    std::vector<float> part_w;
    for (std::uint32_t j : columns) {
        mean.push_back(scaling_.mean[j]);
        inverse_scale.push_back(scaling_.inverse_scale[j]);
        deviation.push_back(scaling_.deviation[j]);
        part_w.push_back(w[j]);
    }
    part_w.resize(part.width());
    const Scaling scaling(std::move(mean), std::move(inverse_scale), std::move(deviation));
    const std::vector<float> norms = squared_norms(part, scaling, 1);
    solve(View<std::remove_cvref_t<decltype(part)>>{part, scaling, norms, numbers}, task, care, part_w, bias);
    std::ranges::fill(w, 0.0F);
    for (std::size_t k = 0; k < columns.size(); ++k) w[columns[k]] = part_w[k];
}

/// A random subset of the features at each node ([B] section 6.3, "locally").
template <Design D>
std::vector<std::uint32_t> SplitSolver<D>::columns_of(std::size_t node) const {
    std::vector<std::uint32_t> columns(rows_.n_features);
    std::iota(columns.begin(), columns.end(), 0U);
    if (!draws_columns()) return columns;
    Random random(options_.seed, column_stream, node);
    random.draw_first(options_.max_features, std::span(columns));
    columns.resize(options_.max_features);
    std::ranges::sort(columns);
    return columns;
}

/// phi of [B] eq. (1) at a decision node, times its lambda; for one feature or none that of [F] section 3.
template <Design D>
double SplitSolver<D>::penalty(std::span<const float> w) const {
    if (options_.split == SplitKind::oblique) return options_.solver.alpha * scaling_.l1_norm(w);
    return std::ranges::any_of(w, [](float x) { return x != 0.0F; }) ? options_.solver.alpha : 0.0;
}

/// [S] eq. (4): weighted 0/1 loss of the pseudo-labels + penalty, the share of the objective that depends on the split.
template <Design D>
double SplitSolver<D>::cost(const CarePoints& care, std::span<const float> w, double bias) const {
    const SideOf<D> side(rows_, w, bias);
    const double sum = sum_by_block(care.rows, [&](std::size_t i) {
        rows_.prefetch(care.rows[std::min(i + rows_ahead, care.rows.size() - 1)]);
        return side.is_right(care.rows[i]) != (care.labels[i] > 0) ? care.weights[i] : 0.0;
    });
    return sum + penalty(w);
}

template <Design D>
double SplitSolver<D>::prefer_constant(const CarePoints& care, std::span<float> w, double& bias) const {
    const auto weight_of = [&](bool is_right) {
        return sum_by_block(care.rows, [&](std::size_t i) { return (care.labels[i] > 0) == is_right ? care.weights[i] : 0.0; });
    };
    const double wants_left = weight_of(false);
    const double wants_right = weight_of(true);
    const double of_candidate = cost(care, w, bias);
    const double of_constant = std::min(wants_left, wants_right);  // [S] eq. (4) at w = 0
    if (of_constant > of_candidate) return of_candidate;
    std::ranges::fill(w, 0.0F);
    bias = wants_left <= wants_right ? 1.0 : -1.0;
    return of_constant;
}

#define SPINNEY_INSTANTIATE(D) template class SplitSolver<D>;
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
