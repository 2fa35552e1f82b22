#include "spinney/relax.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

double inner(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The last steps of L-BFGS and how the gradient changed along them.
class History {
  public:
    void add(std::vector<double> step, std::vector<double> change) {
        const double curvature = inner(step, change);
        if (!(curvature > 1e-12 * inner(change, change))) return;  // the model of the curvature must stay positive
        pairs_.push_back({std::move(step), std::move(change), curvature});
        if (pairs_.size() > depth) pairs_.pop_front();
    }
    [[nodiscard]] bool is_empty() const { return pairs_.empty(); }
    void forget() { pairs_.clear(); }

    /// The quasi-Newton direction at a gradient, by the two-loop recursion.
    [[nodiscard]] std::vector<double> direction(std::span<const double> gradient) const {
        std::vector<double> d(gradient.size()), factors(pairs_.size());
        std::ranges::transform(gradient, d.begin(), [](double g) { return -g; });
        for (std::size_t i = pairs_.size(); i-- > 0;) {
            factors[i] = inner(pairs_[i].step, d) / pairs_[i].curvature;
            add_multiple(d, -factors[i], pairs_[i].change);
        }
        if (!pairs_.empty()) {
            const double scale = pairs_.back().curvature / inner(pairs_.back().change, pairs_.back().change);
            for (double& value : d) value *= scale;
        }
        for (std::size_t i = 0; i < pairs_.size(); ++i)
            add_multiple(d, factors[i] - inner(pairs_[i].change, d) / pairs_[i].curvature, pairs_[i].step);
        return d;
    }

  private:
    static constexpr std::size_t depth = 8;
    struct Pair {
        std::vector<double> step, change;
        double curvature;
    };
    static void add_multiple(std::vector<double>& to, double factor, std::span<const double> of) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * of[i];
    }
    std::deque<Pair> pairs_;
};

/// Unknowns are the standardised weights of each output on the columns that any output uses, then the biases.
template <Design D, class Link>
class Relaxation {
  public:
    Relaxation(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link, const RelaxOptions& options,
               std::span<float> w, std::span<double> bias)
        : rows_(rows), scaling_(scaling), entries_(entries), link_(link), options_(options), w_(w), bias_(bias),
          n_outputs_(bias.size()), d_(rows.width()) {
        find_columns();
        read_start();
        block_.resize(block_rows * stride_);
    }

    void solve() {
        std::vector<double> gradient(theta_.size()), next_gradient(theta_.size());
        double value = evaluate(theta_, gradient);
        History history;
        for (std::size_t number = 0; number < options_.max_steps; ++number) {
            check_stop();
            std::vector<double> direction = history.direction(gradient);
            if (history.is_empty()) shorten(direction);
            std::vector<double> next;
            const double next_value = search(value, gradient, direction, next, next_gradient);
            if (!(next_value < value)) {
                if (history.is_empty()) break;
                history.forget();  // try once more, straight downhill
                continue;
            }
            const bool is_done = value - next_value <= options_.tolerance * std::fabs(value);
            remember(history, next, gradient, next_gradient);
            theta_ = std::move(next);
            gradient.swap(next_gradient);
            value = next_value;
            if (is_done) break;
        }
        store();
    }

  private:
    void find_columns() {
        position_.assign(d_, -1);
        for (std::size_t j = 0; j < rows_.n_features; ++j) {
            bool is_used = false;
            for (std::size_t k = 0; k < n_outputs_; ++k) is_used = is_used || is_free(k, j);
            if (!is_used) continue;
            position_[j] = static_cast<std::int32_t>(columns_.size());
            columns_.push_back(j);
        }
        stride_ = block_stride(columns_.size());
    }

    [[nodiscard]] bool is_free(std::size_t k, std::size_t j) const {
        return w_[k * d_ + j] != 0.0F && scaling_.inverse_scale[j] > 0.0;
    }

    void read_start() {
        theta_.assign(n_outputs_ * stride_ + n_outputs_, 0.0);
        std::vector<double> standard(d_);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double bias = 0.0;
            scaling_.to_standard(w_.subspan(k * d_, d_), bias_[k], standard, bias);
            for (std::size_t i = 0; i < columns_.size(); ++i)
                if (is_free(k, columns_[i])) theta_[k * stride_ + i] = standard[columns_[i]];
            theta_[n_outputs_ * stride_ + k] = bias;
        }
    }

    /// Objective at `theta`; `gradient` is its slope, zero for weights that must stay zero.
    double evaluate(std::span<const double> theta, std::span<double> gradient) {
        std::ranges::fill(gradient, 0.0);
        const std::size_t weights_end = n_outputs_ * stride_;
        double value = 0.0;
        for (std::size_t first = 0; first < entries_.rows.size(); first += block_rows) {
            check_stop_at(first);
            value += add_rows(first, std::min(block_rows, entries_.rows.size() - first), theta, gradient);
        }
        for (std::size_t k = 0; k < n_outputs_; ++k)
            for (std::size_t i = 0; i < columns_.size(); ++i)
                if (!is_free(k, columns_[i])) gradient[k * stride_ + i] = 0.0;
        for (std::size_t i = 0; i < weights_end; ++i) {
            value += 0.5 * options_.ridge * theta[i] * theta[i];
            gradient[i] += options_.ridge * theta[i];
        }
        return value;
    }

    /// Weighted loss of consecutive entries; their slopes are added to `gradient`.
    double add_rows(std::size_t first, std::size_t count, std::span<const double> theta, std::span<double> gradient) {
        for (std::size_t r = 0; r < count; ++r) gather(entries_.rows[first + r], block_.data() + r * stride_);
        scores_.resize(n_outputs_ * block_rows);
        const std::size_t biases = n_outputs_ * stride_;
        for (std::size_t k = 0; k < n_outputs_; ++k)
            kernels().block_scores(block_.data(), count, stride_, theta.data() + k * stride_, theta[biases + k],
                                   scores_.data() + k * block_rows);
        std::vector<double> of_entry(n_outputs_);
        double value = 0.0;
        for (std::size_t r = 0; r < count; ++r) {
            const double weight = entries_.weights[first + r];
            for (std::size_t k = 0; k < n_outputs_; ++k) of_entry[k] = scores_[k * block_rows + r];
            value += weight * link_.differentiate(first + r, of_entry);
            for (std::size_t k = 0; k < n_outputs_; ++k) scores_[k * block_rows + r] = weight * of_entry[k];
        }
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double* slopes = scores_.data() + k * block_rows;
            kernels().add_block_gradient(block_.data(), count, stride_, slopes, gradient.data() + k * stride_);
            gradient[biases + k] = std::accumulate(slopes, slopes + count, gradient[biases + k]);
        }
        return value;
    }

    /// Standardised entries of a row in the used columns.
    void gather(std::size_t row, double* z) const {
        if constexpr (is_sparse<D>) {
            for (std::size_t i = 0; i < columns_.size(); ++i) z[i] = standard(columns_[i], 0.0F);
            rows_.for_each(row, [&](std::size_t j, float x) {
                if (position_[j] >= 0) z[position_[j]] = standard(j, x);
            });
        } else {
            const auto x = rows_.row(row);
            for (std::size_t i = 0; i < columns_.size(); ++i) z[i] = standard(columns_[i], static_cast<float>(x[columns_[i]]));
        }
    }
    [[nodiscard]] double standard(std::size_t j, float x) const {
        return (static_cast<double>(x) - scaling_.mean[j]) * scaling_.inverse_scale[j];
    }

    /// The first direction has no length of its own: at most one in all.
    static void shorten(std::vector<double>& direction) {
        const double length = std::sqrt(inner(direction, direction));
        if (length > 1.0)
            for (double& value : direction) value /= length;
    }

    /// Longest of the steps 1, 1/2, 1/4, ... that lowers the objective enough; returns the value there.
    double search(double value, std::span<const double> gradient, std::span<const double> direction, std::vector<double>& next,
                  std::vector<double>& next_gradient) {
        constexpr double enough = 1e-4;
        const double slope = inner(gradient, direction);
        next.resize(theta_.size());
        double length = 1.0;
        for (int halvings = 0; halvings < 30; ++halvings, length *= 0.5) {
            for (std::size_t i = 0; i < next.size(); ++i) next[i] = theta_[i] + length * direction[i];
            const double found = evaluate(next, next_gradient);
            if (found <= value + enough * length * slope) return found;
        }
        return value;
    }

    void remember(History& history, std::span<const double> next, std::span<const double> gradient,
                  std::span<const double> next_gradient) const {
        std::vector<double> step(next.begin(), next.end()), change(next_gradient.begin(), next_gradient.end());
        for (std::size_t i = 0; i < step.size(); ++i) {
            step[i] -= theta_[i];
            change[i] -= gradient[i];
        }
        history.add(std::move(step), std::move(change));
    }

    void store() {
        std::vector<double> standard(d_);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            std::ranges::fill(standard, 0.0);
            for (std::size_t i = 0; i < columns_.size(); ++i) standard[columns_[i]] = theta_[k * stride_ + i];
            scaling_.to_raw(standard, theta_[n_outputs_ * stride_ + k], w_.subspan(k * d_, d_), bias_[k]);
        }
    }

    const D& rows_;
    const Scaling& scaling_;
    const WeightedRows& entries_;
    const Link& link_;
    RelaxOptions options_;
    std::span<float> w_;
    std::span<double> bias_;
    std::size_t n_outputs_, d_, stride_ = 0;
    std::vector<std::size_t> columns_;    ///< columns with a weight of any output
    std::vector<std::int32_t> position_;  ///< place of a column among them, or -1
    std::vector<double> theta_, block_, scores_;
};

}  // namespace

template <Design D, class Link>
void relax(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link, const RelaxOptions& options,
           std::span<float> w, std::span<double> bias) {
    Relaxation<D, Link>(rows, scaling, entries, link, options, w, bias).solve();
}

#define SPINNEY_INSTANTIATE(D)                                                                                                   \
    template void relax(const D&, const Scaling&, const WeightedRows&, const SoftmaxLink&, const RelaxOptions&,                  \
                        std::span<float>, std::span<double>);                                                                    \
    template void relax(const D&, const Scaling&, const WeightedRows&, const TargetLink&, const RelaxOptions&, std::span<float>, \
                        std::span<double>);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
