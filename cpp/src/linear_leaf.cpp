#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/leaf.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Score of a class a leaf has never seen: below any that a finite row can reach, so its probability is zero.
constexpr double absent_score = -1e200;

/// Leaves of TAO-l trees (bagged-tao section 4): softmax regression of classes; linear regression of numbers.
template <Design D>
class LinearLeaves final : public Leaves {
  public:
    LinearLeaves(const D& rows, const Scaling& scaling, std::span<const float> squared_norms, const Targets& targets,
                 std::size_t n_leaves, const LinearLeafOptions& options)
        : rows_(rows), scaling_(scaling), norms_(squared_norms), targets_(targets), options_(options), is_fitted_(n_leaves, 0) {
        n_leaves_ = n_leaves;
        n_outputs_ = targets.n_outputs;
        table_.values.resize(n_leaves * n_outputs_);
        table_.weights.resize(n_leaves * n_outputs_ * rows.width());
        start_at_the_whole();
    }

    double loss(std::size_t row, std::size_t leaf) const override {
        if (targets_.classes.empty()) {
            double sum = 0.0;
            for (std::size_t k = 0; k < n_outputs_; ++k)
                sum += target_loss(options_.target_loss, options_.delta,
                                   targets_.values[row * n_outputs_ + k] - score(row, leaf, k));
            return sum;
        }
        const auto label = static_cast<std::size_t>(targets_.classes[row]);
        const double own = score(row, leaf, label);
        double total = 0.0;  // sum of exp(other - own)
        bool is_wrong = false;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            if (k == label) continue;
            const double other = score(row, leaf, k);
            is_wrong = is_wrong || other > own || (other == own && k < label);
            total += std::exp(std::min(other - own, 50.0));
        }
        if (options_.class_loss == ClassLoss::zero_one) return is_wrong ? 1.0 : 0.0;
        return std::min(std::log1p(total), -std::log(probability_floor));
    }

    void fit(std::size_t leaf, std::span<const std::uint32_t> rows, Random random) override {
        if (rows.empty()) return;
        std::vector<double> weights(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = targets_.weights[rows[i]];
        if (targets_.classes.empty())
            fit_values(leaf, {rows, weights}, random);
        else
            fit_classes(leaf, {rows, weights}, random);
        is_fitted_[leaf] = 1;
    }

    void relax(std::size_t leaf, std::span<const std::uint32_t> rows, const RelaxOptions& options) override {
        if (rows.empty() || is_fitted_[leaf] == 0) return;
        if (targets_.classes.empty())
            relax_values(leaf, rows, options);
        else
            relax_classes(leaf, rows, options);
    }

    void limit_weights(std::size_t max_weights) override { options_.solver.max_weights = max_weights; }

    void keep_limit(std::size_t leaf) override {
        if (options_.solver.max_weights > 0) keep_largest(leaf, options_.solver.max_weights);
    }
    void clear(std::size_t leaf) override {
        if (options_.solver.alpha > 0.0 || options_.solver.ridge > 0.0) keep_largest(leaf, 0);
    }

    std::span<const std::uint8_t> fitted() const override { return is_fitted_; }
    void set_fitted(std::span<const std::uint8_t> flags) override { is_fitted_.assign(flags.begin(), flags.end()); }

    double penalty(std::size_t leaf) const override {
        double sum = 0.0;
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const auto w = hyperplane(leaf, k);
            sum += options_.solver.alpha * scaling_.l1_norm(w);
            if (options_.solver.ridge > 0.0) sum += 0.5 * options_.solver.ridge * squared_length(w);
        }
        return sum;
    }

  private:
    void refresh_leaf(std::size_t leaf) override { is_fitted_[leaf] = 1; }

    [[nodiscard]] std::span<const float> hyperplane(std::size_t leaf, std::size_t k) const {
        return {table_.weights.data() + (leaf * n_outputs_ + k) * rows_.width(), rows_.width()};
    }
    void keep_largest(std::size_t leaf, std::size_t count) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const std::size_t row = leaf * n_outputs_ + k;
            scaling_.keep_largest(count, {table_.weights.data() + row * rows_.width(), rows_.width()}, table_.values[row]);
        }
    }
    [[nodiscard]] double score(std::size_t row, std::size_t leaf, std::size_t k) const {
        return rows_.dot(row, hyperplane(leaf, k).data()) + table_.values[leaf * n_outputs_ + k];
    }
    [[nodiscard]] double squared_length(std::span<const float> w) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < rows_.n_features; ++j)
            if (scaling_.inverse_scale[j] > 0.0) {
                const double z = static_cast<double>(w[j]) / scaling_.inverse_scale[j];
                sum += z * z;
            }
        return sum;
    }

    /// A leaf that no row has reached yet says what a tree without splits would say.
    void start_at_the_whole() {
        const std::size_t n = targets_.weights.size();
        std::vector<double> whole(n_outputs_), values(n);
        for (std::size_t row = 0; row < n && !targets_.classes.empty(); ++row)
            whole[static_cast<std::size_t>(targets_.classes[row])] += targets_.weights[row];
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            check_stop_after(n);
            for (std::size_t row = 0; row < n && targets_.classes.empty(); ++row)
                values[row] = targets_.values[row * n_outputs_ + k];
            whole[k] = !targets_.classes.empty() ? (whole[k] > 0.0 ? std::log(whole[k]) : absent_score)
                                                 : best_constant(values, targets_.weights, options_.target_loss, options_.delta);
        }
        for (std::size_t i = 0; i < table_.values.size(); ++i) table_.values[i] = whole[i % n_outputs_];
    }

    /// Softmax with l1 penalty (TAO-l, bagged-tao section 5.1.2) over the classes the leaf has seen; the others keep a score that
    /// never wins.
    void fit_classes(std::size_t leaf, const WeightedRows& entries, Random random) {
        std::vector<double> counts(n_outputs_);
        for (std::size_t i = 0; i < entries.rows.size(); ++i)
            counts[static_cast<std::size_t>(targets_.classes[entries.rows[i]])] += entries.weights[i];
        std::vector<std::size_t> present;
        for (std::size_t k = 0; k < n_outputs_; ++k)
            if (counts[k] > 0.0) present.push_back(k);

        const std::size_t d = rows_.width();
        std::vector<float> w(present.size() * d);
        std::vector<double> bias(present.size());
        for (std::size_t i = 0; i < present.size(); ++i) {
            const double old = table_.values[leaf * n_outputs_ + present[i]];
            const bool is_known = is_fitted_[leaf] != 0 && old > 0.5 * absent_score;
            bias[i] = is_known ? old : std::log(counts[present[i]] / counts[present[0]]);
            if (is_known) std::ranges::copy(hyperplane(leaf, present[i]), w.begin() + static_cast<std::ptrdiff_t>(i * d));
        }
        if (present.size() == 2) use_first_as_reference(w, bias);
        const std::vector<std::int32_t> labels = labels_of(entries, present);
        if (present.size() > 1 && rows_.n_features <= options_.solver.newton_limit)
            cycle_classes(entries, labels, w, bias);
        else if (present.size() > 1)
            solve_stream(rows_, scaling_, norms_, entries, SoftmaxLink(labels, present.size()), options_.solver, random,
                         std::span(w), std::span(bias));
        if (options_.solver.max_weights > 0)
            for (std::size_t i = 0; i < present.size(); ++i)
                scaling_.keep_largest(options_.solver.max_weights, std::span(w).subspan(i * d, d), bias[i]);
        store(leaf, present, w, bias);
    }

    /// Softmax regression one class at a time: with the scores of the other classes fixed, the loss in the
    /// score s of class k is logistic, log(1 + exp(-(s - log sum_{j != k} exp(s_j)))) up to a constant.
    void cycle_classes(const WeightedRows& entries, std::span<const std::int32_t> labels, std::vector<float>& w,
                       std::vector<double>& bias) const {
        const std::size_t n = entries.rows.size();
        const std::size_t n_classes = bias.size();
        const std::size_t d = rows_.width();
        std::vector<double> scores(n * n_classes), offsets(n);
        const auto refresh_scores = [&](std::size_t k) {
            for (std::size_t i = 0; i < n; ++i) {
                check_stop_at(i);
                scores[i * n_classes + k] = rows_.dot(entries.rows[i], w.data() + k * d) + bias[k];
            }
        };
        for (std::size_t k = 0; k < n_classes; ++k) refresh_scores(k);
        std::vector<std::int8_t> sides(n);
        for (std::size_t cycle = 0; cycle < options_.solver.epochs; ++cycle)
            for (std::size_t k = n_classes == 2 ? 1 : 0; k < n_classes; ++k) {
                for (std::size_t i = 0; i < n; ++i) {
                    check_stop_at(i);
                    offsets[i] = log_sum_of_others(std::span(scores).subspan(i * n_classes, n_classes), k);
                    sides[i] = static_cast<std::size_t>(labels[i]) == k ? 1 : -1;
                }
                solve_newton(rows_, scaling_, entries, LogisticLink(sides, offsets), options_.solver,
                             std::span(w).subspan(k * d, d), bias[k]);
                refresh_scores(k);
            }
    }

    [[nodiscard]] static double log_sum_of_others(std::span<const double> scores, std::size_t k) {
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < scores.size(); ++j)
            if (j != k) top = std::max(top, scores[j]);
        double sum = 0.0;
        for (std::size_t j = 0; j < scores.size(); ++j)
            if (j != k) sum += std::exp(scores[j] - top);
        return top + std::log(sum);
    }

    /// Position of each entry's class among the classes present.
    [[nodiscard]] std::vector<std::int32_t> labels_of(const WeightedRows& entries, std::span<const std::size_t> present) const {
        std::vector<std::int32_t> place(n_outputs_), labels(entries.rows.size());
        for (std::size_t i = 0; i < present.size(); ++i) place[present[i]] = static_cast<std::int32_t>(i);
        for (std::size_t i = 0; i < labels.size(); ++i)
            labels[i] = place[static_cast<std::size_t>(targets_.classes[entries.rows[i]])];
        return labels;
    }

    void use_first_as_reference(std::vector<float>& w, std::vector<double>& bias) const {
        for (std::size_t j = 0; j < rows_.width(); ++j) {
            w[rows_.width() + j] -= w[j];
            w[j] = 0.0F;
        }
        bias[1] -= bias[0];
        bias[0] = 0.0;
    }

    void store(std::size_t leaf, std::span<const std::size_t> present, std::span<const float> w, std::span<const double> bias) {
        LeafTable row{std::vector<double>(n_outputs_, absent_score), std::vector<float>(n_outputs_ * rows_.width())};
        for (std::size_t i = 0; i < present.size(); ++i) {
            row.values[present[i]] = bias[i];
            std::copy_n(w.begin() + static_cast<std::ptrdiff_t>(i * rows_.width()), rows_.width(),
                        row.weights.begin() + static_cast<std::ptrdiff_t>(present[i] * rows_.width()));
        }
        set_row(leaf, row);
    }

    /// One penalised linear regression an output, started at the best constant.
    void fit_values(std::size_t leaf, const WeightedRows& entries, Random random) {
        std::vector<double> values(entries.rows.size());
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = targets_.values[entries.rows[i] * n_outputs_ + k];
            double& bias = table_.values[leaf * n_outputs_ + k];
            if (is_fitted_[leaf] == 0) bias = best_constant(values, entries.weights, options_.target_loss, options_.delta);
            const std::span<float> w(table_.weights.data() + (leaf * n_outputs_ + k) * rows_.width(), rows_.width());
            const TargetLink link(values, options_.target_loss, smoothing(values, entries.weights));
            solve_linear(rows_, scaling_, norms_, entries, link, options_.solver, random, w, bias);
        }
    }

    /// Rows of classes that the leaf has no score for, as a guard may have left them, cannot gain and are left out.
    void relax_classes(std::size_t leaf, std::span<const std::uint32_t> rows, const RelaxOptions& options) {
        const std::size_t d = rows_.width();
        const auto value_of = [&](std::size_t k) { return table_.values[leaf * n_outputs_ + k]; };
        std::vector<std::size_t> known;
        for (std::size_t k = 0; k < n_outputs_; ++k)
            if (value_of(k) > 0.5 * absent_score) known.push_back(k);
        std::vector<std::uint32_t> kept;
        std::vector<double> weights;
        for (std::uint32_t row : rows)
            if (std::ranges::binary_search(known, static_cast<std::size_t>(targets_.classes[row]))) {
                kept.push_back(row);
                weights.push_back(targets_.weights[row]);
            }
        if (known.size() < 2 || kept.empty()) return;
        std::vector<float> w(known.size() * d);
        std::vector<double> bias(known.size());
        for (std::size_t i = 0; i < known.size(); ++i) {
            std::ranges::copy(hyperplane(leaf, known[i]), w.begin() + static_cast<std::ptrdiff_t>(i * d));
            bias[i] = value_of(known[i]);
        }
        const WeightedRows entries{kept, weights};
        spinney::relax(rows_, scaling_, entries, SoftmaxLink(labels_of(entries, known), known.size()), options, std::span(w),
                       std::span(bias));
        store(leaf, known, w, bias);
    }

    void relax_values(std::size_t leaf, std::span<const std::uint32_t> rows, const RelaxOptions& options) {
        std::vector<double> weights(rows.size()), values(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = targets_.weights[rows[i]];
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = targets_.values[rows[i] * n_outputs_ + k];
            const TargetLink link(values, options_.target_loss, smoothing(values, weights));
            const std::span<float> w(table_.weights.data() + (leaf * n_outputs_ + k) * rows_.width(), rows_.width());
            spinney::relax(rows_, scaling_, {rows, weights}, link, options, w,
                           std::span(&table_.values[leaf * n_outputs_ + k], 1));
        }
    }

    /// Huber's delta, or the width within which the absolute loss is smoothed: a hundredth of the spread.
    [[nodiscard]] double smoothing(std::span<const double> values, std::span<const double> weights) const {
        if (options_.target_loss != TargetLoss::absolute) return options_.delta;
        const double centre = best_constant(values, weights, TargetLoss::absolute, 0.0);
        double sum = 0.0;
        double total = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            sum += weights[i] * std::fabs(values[i] - centre);
            total += weights[i];
        }
        return std::max(0.01 * sum / total, 1e-12);
    }

    const D& rows_;
    const Scaling& scaling_;
    std::span<const float> norms_;
    Targets targets_;
    LinearLeafOptions options_;
    std::vector<std::uint8_t> is_fitted_;
};

}  // namespace

template <Design D>
std::unique_ptr<Leaves> linear_leaves(const D& rows, const Scaling& scaling, std::span<const float> squared_norms,
                                      const Targets& targets, std::size_t n_leaves, const LinearLeafOptions& options) {
    return std::make_unique<LinearLeaves<D>>(rows, scaling, squared_norms, targets, n_leaves, options);
}

#define SPINNEY_INSTANTIATE(D)                                                                                          \
    template std::unique_ptr<Leaves> linear_leaves<D>(const D&, const Scaling&, std::span<const float>, const Targets&, \
                                                      std::size_t, const LinearLeafOptions&);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
