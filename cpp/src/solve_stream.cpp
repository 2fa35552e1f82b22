#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "spinney/convex.hpp"
#include "spinney/parallel.hpp"
#include "spinney/solve_linear.hpp"

namespace spinney {
namespace {

constexpr std::size_t batch_rows = 4;
/// Terms whose gradients one task sums: fixed, so that the sum does not depend on the threads.
constexpr std::size_t gradient_chunk = 4096;
/// Longest step of a regression, in units of 1 / (mean curvature of a row).
constexpr double regression_step = 0.3;

/// One term of the sum the solver walks over: a row, its entry in the link, a weight of at most ~1.5.
struct Term {
    std::uint32_t row, entry;
    float weight;
};

/// Splits heavy entries into several equal terms. The objective stays the same, and no single term
/// makes a step much longer than the others, so the step need not shrink with the heaviest weight.
std::vector<Term> split_heavy(const WeightedRows& entries, double mean_weight) {
    std::vector<Term> terms;
    terms.reserve(entries.rows.size());
    for (std::size_t n = 0; n < entries.rows.size(); ++n) {
        const double weight = entries.weights[n] / mean_weight;
        const double copies = std::max(1.0, std::round(weight));
        const Term term{entries.rows[n], static_cast<std::uint32_t>(n), static_cast<float>(weight / copies)};
        terms.insert(terms.end(), static_cast<std::size_t>(copies), term);
    }
    return terms;
}

/// Where w -> keep w - pull, keep <= 1, leads in `steps` steps.
float contract(float w, float pull, float keep, float steps) {
    if (keep == 1.0F) return w - pull * steps;
    const float fixed = -pull / (1.0F - keep);
    return fixed + std::pow(keep, steps) * (w - fixed);
}

/// Steps for which w keeps its sign on the way of `contract`; infinite if it always does.
float steps_to_zero(float w, float pull, float keep) {
    constexpr float never = std::numeric_limits<float>::infinity();
    if (w * pull <= 0.0F) return never;
    if (keep == 1.0F) return std::floor(w / pull);
    const float fixed = -pull / (1.0F - keep);
    return std::floor(std::log(fixed / (fixed - w)) / std::log(keep));
}

/// `steps` repetitions of w <- soft(keep (w - drift), threshold) at once: w stays on its side of zero,
/// stops at zero, or crosses it once.
float repeat_step(float w, float drift, float keep, float threshold, float steps) {
    while (steps > 0.0F) {
        const float side = w != 0.0F ? std::copysign(1.0F, w) : -std::copysign(1.0F, drift);
        const float pull = keep * drift + side * threshold;
        if (w == 0.0F && std::fabs(keep * drift) <= threshold) return 0.0F;
        const float before_zero = w == 0.0F ? std::numeric_limits<float>::infinity() : steps_to_zero(w, pull, keep);
        if (before_zero >= steps) return contract(w, pull, keep, steps);
        const float moved = keep * (contract(w, pull, keep, before_zero) - drift);
        w = soft_threshold(moved, threshold);
        steps -= before_zero + 1.0F;
    }
    return w;
}

template <Design D, class Link>
class StreamSolver {
  public:
    StreamSolver(const D& rows, const Scaling& scaling, std::span<const float> squared_norms, const WeightedRows& entries,
                 const Link& link, const LinearOptions& options, Random random, std::span<float> w, std::span<double> bias)
        : rows_(rows), scaling_(scaling), link_(link), options_(options), random_(random), w_(w), bias_(bias),
          n_outputs_(link.n_outputs()), d_(rows.width()) {
        const double total = std::accumulate(entries.weights.begin(), entries.weights.end(), 0.0);
        const double mean_weight = total / static_cast<double>(entries.rows.size());
        terms_ = split_heavy(entries, mean_weight);
        slopes_.resize(terms_.size() * n_outputs_);
        inverse_terms_ = static_cast<float>(1.0 / static_cast<double>(terms_.size()));
        step_ = static_cast<float>(longest_step(squared_norms));
        const double share = 1.0 / (mean_weight * static_cast<double>(terms_.size()));
        keep_ = static_cast<float>(1.0 / (1.0 + static_cast<double>(step_) * options.ridge * share));
        threshold_.resize(d_);
        for (std::size_t j = 0; j < rows.n_features; ++j)
            threshold_[j] = static_cast<float>(step_ * options.alpha * share * scaling.inverse_scale[j]);
        gradient_.resize(n_outputs_ * d_);
        bias_gradient_.resize(n_outputs_);
    }

    void solve() {
        to_centred();
        start_table();
        std::vector<std::uint32_t> order(terms_.size());
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t epoch = 0; epoch < options_.epochs; ++epoch) {
            check_stop();
            random_.shuffle(std::span(order));
            run_epoch(order);
        }
        to_raw();
    }

  private:
    /// Steps are measured by the mean curvature of a term: slopes of class losses are bounded, so rows that are
    /// longer than the mean do no harm. Those of a regression are not: with a long step a block of similar rows, or
    /// a single row far out, would send the weights to infinity.
    [[nodiscard]] double longest_step(std::span<const float> squared_norms) const {
        double mean = 0.0;
        double greatest = 0.0;
        for (const Term& term : terms_) {
            const double curvature =
                link_.max_curvature() * static_cast<double>(term.weight) * (static_cast<double>(squared_norms[term.row]) + 1.0);
            mean += curvature / static_cast<double>(terms_.size());
            greatest = std::max(greatest, curvature);
        }
        if constexpr (Link::has_bounded_slopes) return options_.step / mean;
        return std::min(std::min(options_.step, regression_step) / mean, 2.0 / (batch_rows * greatest));
    }

    // Dense rows are centred on the fly: score = w.x + bias - w.mean. Sparse rows are not centred.
    void to_centred() {
        centre_.assign(n_outputs_, 0.0);
        if constexpr (!is_sparse<D>)
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                centre_[k] = dot({w_.data() + k * d_, d_}, scaling_.mean32.data());
                bias_[k] += centre_[k];
            }
        last_.assign(is_sparse<D> ? d_ : 0, 0);
    }

    void to_raw() {
        if constexpr (is_sparse<D>)
            for (std::size_t j = 0; j < d_; ++j) catch_up(j);
        for (std::size_t k = 0; k < n_outputs_; ++k) bias_[k] -= centre_[k];
    }

    [[nodiscard]] StreamVectors vectors(std::size_t output, float* gradient) const {
        return {w_.data() + output * d_,
                gradient + output * d_,
                scaling_.mean32.data(),
                scaling_.metric32.data(),
                threshold_.data(),
                d_,
                keep_};
    }

    /// Present slopes of up to four terms, those of a term side by side.
    void slopes_of(std::span<const std::uint32_t> batch, std::vector<double>& scores, float* slopes) const {
        std::uint32_t entries[batch_rows] = {};
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const Term& term = terms_[batch[i]];
            entries[i] = term.entry;
            for (std::size_t k = 0; k < n_outputs_; ++k)
                scores[i * n_outputs_ + k] = rows_.dot(term.row, w_.data() + k * d_) + (bias_[k] - centre_[k]);
        }
        link_.slopes({entries, batch.size()}, scores.data(), slopes);
        for (std::size_t i = 0; i < batch.size(); ++i)
            for (std::size_t k = 0; k < n_outputs_; ++k) slopes[i * n_outputs_ + k] *= terms_[batch[i]].weight;
    }

    /// Slopes of all terms and their mean gradient at the start point, in parallel over chunks.
    void start_table() {
        const std::size_t n_chunks = (terms_.size() + gradient_chunk - 1) / gradient_chunk;
        std::vector<float> sums(n_chunks * n_outputs_ * d_);
        parallel_for(n_chunks, options_.n_threads, [&](std::size_t chunk) {
            std::vector<double> scores(n_outputs_ * batch_rows);
            float* sum = sums.data() + chunk * n_outputs_ * d_;
            const std::size_t end = std::min(terms_.size(), (chunk + 1) * gradient_chunk);
            for (std::size_t e = chunk * gradient_chunk; e < end;) {
                check_stop_at(e);
                const std::size_t count = batch_size(end - e);
                std::uint32_t batch[batch_rows] = {};
                for (std::size_t i = 0; i < count; ++i) {
                    rows_.prefetch(terms_[std::min(e + i + 2 * batch_rows, end - 1)].row);
                    batch[i] = static_cast<std::uint32_t>(e + i);
                }
                slopes_of({batch, count}, scores, slopes_.data() + e * n_outputs_);
                add_to(sum, e, count);
                e += count;
            }
        });
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk)
            for (std::size_t i = 0; i < gradient_.size(); ++i)
                gradient_[i] += sums[chunk * gradient_.size() + i] * inverse_terms_;
        for (std::size_t e = 0; e < terms_.size(); ++e)
            for (std::size_t k = 0; k < n_outputs_; ++k)
                bias_gradient_[k] += static_cast<double>(slopes_[e * n_outputs_ + k] * inverse_terms_);
    }

    /// Rows of a step: four if there are as many, and one by one for sparse rows and at the end.
    [[nodiscard]] static std::size_t batch_size(std::size_t n_left) {
        return !is_sparse<D> && n_left >= batch_rows ? batch_rows : 1;
    }

    /// gradient += the gradients of terms first, ..., first + count - 1 at their slopes in the table.
    void add_to(float* gradient, std::size_t first, std::size_t count) const {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            if constexpr (is_sparse<D>) {
                const float slope = slopes_[first * n_outputs_ + k];
                rows_.for_each(terms_[first].row,
                               [&](std::size_t j, float x) { gradient[k * d_ + j] += slope * x * scaling_.metric32[j]; });
            } else {
                const typename D::Value* x[batch_rows] = {};
                float slopes[batch_rows] = {};
                for (std::size_t i = 0; i < count; ++i) {
                    x[i] = rows_.begin(terms_[first + i].row);
                    slopes[i] = slopes_[(first + i) * n_outputs_ + k];
                }
                row_kernels<typename D::Value>().add_gradient(vectors(k, gradient), x, slopes, count);
            }
        }
    }

    void run_epoch(std::span<const std::uint32_t> order) {
        std::vector<double> scores(n_outputs_ * batch_rows);
        std::vector<float> slopes(n_outputs_ * batch_rows), changes(n_outputs_ * batch_rows);
        for (std::size_t e = 0; e < order.size();) {
            check_stop_at(e);
            const std::size_t count = batch_size(order.size() - e);
            const auto batch = order.subspan(e, count);
            if constexpr (is_sparse<D>) rows_.for_each(terms_[batch[0]].row, [&](std::size_t j, float) { catch_up(j); });
            for (std::size_t i = 0; i < count; ++i)
                rows_.prefetch(terms_[order[std::min(e + i + 2 * batch_rows, order.size() - 1)]].row);
            slopes_of(batch, scores, slopes.data());
            for (std::size_t i = 0; i < count; ++i) {
                float* table = slopes_.data() + batch[i] * n_outputs_;
                for (std::size_t k = 0; k < n_outputs_; ++k) {
                    const float slope = slopes[i * n_outputs_ + k];
                    changes[k * batch_rows + i] = slope - table[k];
                    table[k] = slope;
                }
            }
            move(batch, changes);
            e += count;
        }
    }

    /// One SAGA step (Defazio, Bach and Lacoste-Julien, 2014) over the rows of `batch`: along their new slopes less those in the
    /// table plus the mean of the table, then the proximal step of the penalty.
    void move(std::span<const std::uint32_t> batch, std::span<const float> changes) {
        const double count = static_cast<double>(batch.size());
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const float* change = changes.data() + k * batch_rows;
            const double total = std::accumulate(change, change + batch.size(), 0.0);
            bias_[k] -= static_cast<double>(step_) * (total + count * bias_gradient_[k]);
            bias_gradient_[k] += total * static_cast<double>(inverse_terms_);
            if constexpr (is_sparse<D>)
                move_sparse(terms_[batch[0]].row, k, change[0]);
            else {
                const typename D::Value* x[batch_rows] = {};
                for (std::size_t i = 0; i < batch.size(); ++i) x[i] = rows_.begin(terms_[batch[i]].row);
                centre_[k] = row_kernels<typename D::Value>().stream_step(vectors(k, gradient_.data()), x, change, batch.size(),
                                                                          step_, inverse_terms_);
            }
        }
        if constexpr (is_sparse<D>) finish_sparse(terms_[batch[0]].row);
    }

    // Sparse rows: a column moves by the mean gradient and the penalty in every step, but is brought up
    // to date only when a row has an entry in it; last_ counts the steps a column has seen.
    void catch_up(std::size_t j) {
        for (std::size_t k = 0; k < n_outputs_; ++k)
            w_[k * d_ + j] = advance(w_[k * d_ + j], gradient_[k * d_ + j], j, static_cast<float>(time_ - last_[j]));
        last_[j] = time_;
    }

    [[nodiscard]] float advance(float w, float gradient, std::size_t j, float steps) const {
        return repeat_step(w, step_ * gradient, keep_, threshold_[j], steps);
    }

    void move_sparse(std::size_t row, std::size_t k, float change) {
        rows_.for_each(row, [&](std::size_t j, float x) {
            const float fresh = change * x * scaling_.metric32[j];
            float& w = w_[k * d_ + j];
            float& gradient = gradient_[k * d_ + j];
            w = advance(w - step_ * fresh, gradient, j, 1.0F);
            gradient += fresh * inverse_terms_;
        });
    }

    void finish_sparse(std::size_t row) {
        ++time_;
        rows_.for_each(row, [&](std::size_t j, float) { last_[j] = time_; });
    }

    const D& rows_;
    const Scaling& scaling_;
    const Link& link_;
    LinearOptions options_;
    Random random_;
    std::span<float> w_;
    std::span<double> bias_;
    std::size_t n_outputs_, d_;  ///< weights of a hyperplane
    std::vector<Term> terms_;
    std::vector<float> slopes_, gradient_, threshold_;
    std::vector<double> bias_gradient_, centre_;
    float step_ = 0.0F, keep_ = 1.0F, inverse_terms_ = 0.0F;
    std::vector<std::uint32_t> last_;
    std::uint32_t time_ = 0;
};

}  // namespace

template <Design D, class Link>
void solve_stream(const D& rows, const Scaling& scaling, std::span<const float> squared_norms, const WeightedRows& entries,
                  const Link& link, const LinearOptions& options, Random random, std::span<float> w, std::span<double> bias) {
    StreamSolver<D, Link>(rows, scaling, squared_norms, entries, link, options, random, w, bias).solve();
}

#define SPINNEY_INSTANTIATE(D)                                                                                             \
    template void solve_stream(const D&, const Scaling&, std::span<const float>, const WeightedRows&, const LogisticLink&, \
                               const LinearOptions&, Random, std::span<float>, std::span<double>);                         \
    template void solve_stream(const D&, const Scaling&, std::span<const float>, const WeightedRows&, const TargetLink&,   \
                               const LinearOptions&, Random, std::span<float>, std::span<double>);                         \
    template void solve_stream(const D&, const Scaling&, std::span<const float>, const WeightedRows&, const SoftmaxLink&,  \
                               const LinearOptions&, Random, std::span<float>, std::span<double>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
