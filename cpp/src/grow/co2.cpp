/// Continuously optimised oblique splits, Algorithm 1 of [C] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random
/// Forest by Continuous Optimization of Oblique Splits".

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Share of the mean row's weight that each class has in a leaf before any row is counted: the logarithm of nothing would be
/// infinite.
constexpr double prior_share = 0.1;
/// Squared length of the start as a share of the largest. At full length most rows of one-hot columns lie beyond the margin
/// of the bound, where nothing pulls, and the split stays at its column.
constexpr double start_share = 0.1;
/// Batches of a pass; small nodes have smaller ones.
constexpr std::size_t least_batches = 10;
/// Evaluations in a row without a better bound after which the learning rate is halved, and halvings after which it ends.
constexpr std::size_t patience = 2;
constexpr std::size_t most_halvings = 4;

/// Deviation of the numbers of a node; 1 for classes. Losses are measured in it, or deep nodes would hardly have any.
double deviation_of(const NodeTargets& targets) {
    if (targets.has_classes()) return 1.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < targets.size(); ++i)
        for (double value : targets.values(i)) squares += targets.weight(i) * value * value;
    const double deviation = std::sqrt(squares / (targets.total_weight() * static_cast<double>(targets.n_outputs())));
    return deviation > 0.0 ? deviation : 1.0;
}

/// The predictors θ of the two leaves of a stump, with their losses [C, eqs. (3), (4)].
class StumpLeaves {
  public:
    StumpLeaves(const NodeTargets& targets, const Tally& sides) : targets_(targets), inverse_unit_(1.0 / deviation_of(targets)) {
        const std::size_t width = targets.n_outputs();
        for (std::size_t side = 0; side < 2; ++side) {
            theta_[side].resize(width);
            velocity_[side].resize(width);
            gradient_[side].resize(width);
            losses_[side].resize(width);
        }
        fit(sides);
    }

    /// Fractions or means of the rows on the two sides [C, Alg. 1, line 2].
    void fit(const Tally& sides) {
        const double prior = prior_share * targets_.total_weight() / static_cast<double>(targets_.size());
        for (std::size_t side = 0; side < 2; ++side) {
            const auto sums = side == 0 ? sides.left() : sides.right();
            const double weight = side == 0 ? sides.left_weight() : sides.right_weight();
            for (std::size_t k = 0; k < sums.size(); ++k) {
                if (targets_.has_classes())
                    theta_[side][k] = std::log(sums[k] + prior) - std::log(weight + prior * static_cast<double>(sums.size()));
                else
                    theta_[side][k] = weight > 0.0 ? sums[k] / weight * inverse_unit_ : 0.0;
            }
        }
        update_losses();
    }

    /// Loss of entry i in the leaf of a side.
    [[nodiscard]] double loss(std::size_t side, std::size_t i) const {
        if (targets_.has_classes()) return losses_[side][targets_.label(i)];
        double sum = 0.0;  // [C, eq. (4)]
        const auto values = targets_.values(i);
        for (std::size_t k = 0; k < values.size(); ++k) sum += squared(theta_[side][k] - values[k] * inverse_unit_);
        return sum;
    }

    /// Gradient of the loss by θ, of one row; that of the log of the sum in eq. (3) is left to `step`.
    void add_gradient(std::size_t side, std::size_t i, double weight) {
        if (targets_.has_classes()) {
            gradient_[side][targets_.label(i)] -= weight;
            weights_[side] += weight;
            return;
        }
        const auto values = targets_.values(i);
        for (std::size_t k = 0; k < values.size(); ++k)
            gradient_[side][k] += 2.0 * weight * (theta_[side][k] - values[k] * inverse_unit_);
    }

    /// Step of θ against the gradient [C, Alg. 1, lines 10 and 13].
    void step(double learning_rate, double momentum, double total_weight) {
        for (std::size_t side = 0; side < 2; ++side) {
            for (std::size_t k = 0; k < theta_[side].size(); ++k) {
                double slope = gradient_[side][k];
                if (targets_.has_classes()) slope += weights_[side] * std::exp(-losses_[side][k]);  // p_k of [C, eq. (1)]
                velocity_[side][k] = momentum * velocity_[side][k] - slope / total_weight;
                theta_[side][k] += learning_rate * velocity_[side][k];
                gradient_[side][k] = 0.0;
            }
            weights_[side] = 0.0;
        }
        update_losses();
    }

  private:
    static double squared(double x) { return x * x; }

    void update_losses() {
        if (!targets_.has_classes()) return;
        for (std::size_t side = 0; side < 2; ++side) {
            const double most = std::ranges::max(theta_[side]);
            double sum = 0.0;
            for (double t : theta_[side]) sum += std::exp(t - most);
            const double log_sum = most + std::log(sum);
            for (std::size_t k = 0; k < theta_[side].size(); ++k) losses_[side][k] = log_sum - theta_[side][k];  // [C, eq. (3)]
        }
    }

    const NodeTargets& targets_;
    double inverse_unit_;
    std::vector<double> theta_[2], velocity_[2], gradient_[2], losses_[2];
    double weights_[2] = {0.0, 0.0};
};

/// One decision stump under optimisation. The hyperplane is kept over raw features; lengths are those of scaled space.
template <Design D>
class Stump {
  public:
    Stump(const GrowSite<D>& site, const CO2Options& options, const Hyperplane& start, Random random)
        : site_(site), options_(options), random_(random), w_(site.rows.n_features), velocity_(w_.size()), gradient_(w_.size()),
          side_(site.reach.size()), order_(site.reach.size()),
          batch_size_(std::clamp<std::size_t>(order_.size() / least_batches, 1, options.batch_size)),
          unit_(site.targets.total_weight() / static_cast<double>(order_.size())), mean_(centre_of(site)),
          mean32_(mean_.begin(), mean_.end()), leaves_(site.targets, set_start(start)) {
        std::iota(order_.begin(), order_.end(), 0U);
    }

    Hyperplane result() {
        const std::size_t n_epochs = options_.max_epochs;
        double learning_rate = options_.learning_rate;
        double best_bound = std::numeric_limits<double>::infinity();
        std::size_t n_worse = 0;
        std::size_t n_halvings = 0;
        for (std::size_t epoch = 0; epoch < n_epochs; epoch += options_.refresh_epochs) {
            const double bound = evaluate();
            if (options_.relabel_epochs > 0) let_rows_leave(epoch < options_.relabel_epochs);
            if (bound < best_bound * (1.0 - options_.tolerance)) {
                best_bound = bound;
                n_worse = 0;
            } else if (++n_worse > patience) {
                if (++n_halvings > most_halvings) break;
                learning_rate *= 0.5;
                n_worse = 0;
            }
            const std::size_t n_passes = std::min(options_.refresh_epochs, n_epochs - epoch);
            for (std::size_t pass = 0; pass < n_passes; ++pass) run_epoch(learning_rate);
        }
        evaluate();
        return compact(kept_w_, kept_offset_);
    }

  private:
    /// Mean of the node's rows. About the mean of all rows, a node far from it would need a bias longer than ν allows.
    static std::vector<double> centre_of(const GrowSite<D>& site) {
        if constexpr (is_sparse<D>) {
            return site.scaling.mean;  // zero: centred rows would not be sparse
        } else {
            std::vector<double> mean(site.rows.n_features);
            for (std::size_t i = 0; i < site.reach.size(); ++i) {
                check_stop_at(i);
                const auto* x = site.rows.row(site.reach[i]).data();
                const double weight = site.targets.weight(i) / site.targets.total_weight();
                for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += weight * static_cast<double>(x[j]);
            }
            return mean;
        }
    }

    /// The given split at the length of the start, and how its sides are filled.
    Tally set_start(const Hyperplane& start) {
        for (std::size_t k = 0; k < start.columns.size(); ++k) w_[start.columns[k]] = start.weights[k];
        offset_ = start.bias;
        bias_ = offset_;
        for (std::size_t k = 0; k < start.columns.size(); ++k)
            bias_ += static_cast<double>(start.weights[k]) * mean_[start.columns[k]];
        const double factor = std::sqrt(start_share * options_.max_norm / squared_norm());
        for (float& w : w_) w = static_cast<float>(factor * static_cast<double>(w));
        bias_ *= factor;
        update_offset();
        Tally sides = site_.targets.tally();
        for (std::size_t i = 0; i < site_.reach.size(); ++i) {
            check_stop_at(i);
            if (score(i) < 0.0) site_.targets.move(sides, i);
        }
        return sides;
    }

    [[nodiscard]] double score(std::size_t i) const { return site_.rows.dot(site_.reach[i], w_.data()) + offset_; }

    [[nodiscard]] double squared_norm() const {
        double sum = bias_ * bias_;
        for (std::uint32_t j : site_.columns) {
            const double w = static_cast<double>(w_[j]) / site_.scaling.inverse_scale[j];
            sum += w * w;
        }
        return sum;
    }

    /// The bias belongs to centred columns, the offset to raw ones.
    void update_offset() {
        offset_ = bias_;
        for (std::uint32_t j : site_.columns) offset_ -= static_cast<double>(w_[j]) * mean_[j];
    }

    /// Takes a new tangent [C, eq. (11)]; returns the bound of eq. (10). Keeps the hyperplane if it parts the rows: a step
    /// too far may leave them all on one side.
    double evaluate() {
        double bound = 0.0;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < side_.size(); ++i) {
            check_stop_at(i);
            if (i + 4 < side_.size()) site_.rows.prefetch(site_.reach[i + 4]);
            const double s = score(i);
            side_[i] = s < 0.0 ? -1 : 1;
            n_left += s < 0.0 ? 1 : 0;
            bound += site_.targets.weight(i) * stump_bound(s, leaves_.loss(0, i), leaves_.loss(1, i));
        }
        is_parted_ = n_left > 0 && n_left < side_.size();
        if (is_parted_) {
            kept_w_ = w_;
            kept_offset_ = offset_;
        }
        return bound;
    }

    /// Puts the tangent of each row where its better leaf is, not where the row is. Then the bound is a hinge, rows on the
    /// wrong side pull as well, and a start of two scores only can be left.
    void relabel() {
        for (std::size_t i = 0; i < side_.size(); ++i) side_[i] = leaves_.loss(0, i) < leaves_.loss(1, i) ? -1 : 1;
    }

    /// How the rows fill the sides on which their tangents lie.
    [[nodiscard]] Tally tally_sides() const {
        Tally sides = site_.targets.tally();
        check_stop_after(side_.size());
        for (std::size_t i = 0; i < side_.size(); ++i)
            if (side_[i] < 0) site_.targets.move(sides, i);
        return sides;
    }

    /// Tangents of a split that rows may leave. Its leaves are fitted to the sides, since gradients alone follow too slowly;
    /// what the rows want is asked before, when the leaves also know of the rows that pull.
    void let_rows_leave(bool is_early) {
        const Tally sides = tally_sides();
        if (is_early) relabel();
        if (is_parted_) leaves_.fit(sides);
    }

    void run_epoch(double learning_rate) {
        check_stop();
        for (std::size_t k = order_.size(); k > 1; --k)
            std::swap(order_[k - 1], order_[random_.below(static_cast<std::uint32_t>(k))]);
        for (std::size_t first = 0; first < order_.size(); first += batch_size_) {
            if (first % 1024 < batch_size_ && first > 0) check_stop();
            step(std::span(order_).subspan(first, std::min(batch_size_, order_.size() - first)), learning_rate);
        }
    }

    /// One step of stochastic subgradients with momentum, then the projection on |w|^2 <= ν.
    void step(std::span<const std::uint32_t> batch, double learning_rate) {
        double weight = 0.0;
        double bias_slope = 0.0;
        active_.clear();
        slopes_.clear();
        for (std::size_t k = 0; k < batch.size(); ++k) {
            const std::uint32_t i = batch[k];
            if (k + 4 < batch.size()) site_.rows.prefetch(site_.reach[batch[k + 4]]);
            const double s = score(i);
            const double row_weight = site_.targets.weight(i);
            weight += row_weight;
            // [C, Alg. 1, line 8]: which term of the maximum in eq. (11) counts.
            const std::size_t worst = leaves_.loss(0, i) - s >= leaves_.loss(1, i) + s ? 0 : 1;
            leaves_.add_gradient(worst, i, row_weight);
            // [C, Alg. 1, lines 9 and 12]: 1 + s or -(1 - s) times the row.
            const int pull = worst == 0 ? 1 + side_[i] : -(1 - side_[i]);
            if (pull == 0) continue;
            active_.push_back(site_.reach[i]);
            slopes_.push_back(static_cast<float>(pull * row_weight / unit_));
            bias_slope += pull * row_weight;
        }
        std::ranges::fill(gradient_, 0.0F);
        add_active(site_.rows);
        move(static_cast<float>(unit_ / weight), static_cast<float>(learning_rate));
        bias_velocity_ = options_.momentum * bias_velocity_ + bias_slope / weight;
        bias_ += learning_rate * bias_velocity_;
        leaves_.step(learning_rate, options_.momentum, weight);
        project();
    }

    template <class T>
    void add_active(const DenseRowsOf<T>& rows) {
        const StreamVectors vectors{nullptr, gradient_.data(), mean32_.data(), site_.scaling.metric32.data(), nullptr, w_.size()};
        std::size_t k = 0;
        for (; k + 4 <= active_.size(); k += 4) {
            const T* x[4];
            float slope[4];
            for (std::size_t r = 0; r < 4; ++r) {
                x[r] = rows.row(active_[k + r]).data();
                slope[r] = slopes_[k + r];
            }
            row_kernels<T>().add_gradient(vectors, x, slope, 4);
        }
        for (; k < active_.size(); ++k) {
            const T* const x[4] = {rows.row(active_[k]).data()};
            const float slope[4] = {slopes_[k]};
            row_kernels<T>().add_gradient(vectors, x, slope, 1);
        }
    }
    void add_active(const SparseRows& rows) {
        for (std::size_t k = 0; k < active_.size(); ++k)
            rows.for_each(active_[k],
                          [&](std::size_t j, float x) { gradient_[j] += slopes_[k] * x * site_.scaling.metric32[j]; });
    }

    void move(float share, float learning_rate) {
        const auto momentum = static_cast<float>(options_.momentum);
        for (std::size_t j = 0; j < w_.size(); ++j) {
            velocity_[j] = momentum * velocity_[j] + share * gradient_[j];
            w_[j] += learning_rate * velocity_[j];
        }
    }

    /// [C, Alg. 1, lines 15 and 16]: back to |w|^2 <= ν, the constraint of eq. (9).
    void project() {
        const double norm = squared_norm();
        if (norm > options_.max_norm) {
            const double factor = std::sqrt(options_.max_norm / norm);
            for (float& w : w_) w *= static_cast<float>(factor);
            bias_ *= factor;
        }
        update_offset();
    }

    const GrowSite<D>& site_;
    const CO2Options& options_;
    Random random_;
    std::vector<float> w_, velocity_, gradient_;
    std::vector<std::int8_t> side_;  ///< side on which the tangent of each row was taken
    std::vector<std::uint32_t> order_, active_;
    std::size_t batch_size_;
    double unit_;  ///< weight of the mean row: weights of any unit make slopes that fit a float
    std::vector<double> mean_;
    std::vector<float> mean32_, slopes_;
    double bias_ = 0.0, bias_velocity_ = 0.0, offset_ = 0.0;
    std::vector<float> kept_w_;
    double kept_offset_ = 0.0;
    bool is_parted_ = false;  ///< whether both sides had rows when the tangents were taken
    StumpLeaves leaves_;
};

template <Design D>
class CO2Rule final : public SplitRule<D> {
  public:
    explicit CO2Rule(const CO2Options& options) : options_(options) {}
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        Hyperplane start = best_axis(site, random);
        if (start.is_empty()) return start;
        const Hyperplane plane = Stump<D>(site, options_, start, random).result();
        return is_overfitted(site, start, plane) ? start : plane;
    }

  private:
    /// Whether judges, if there are any, want the column that it started from.
    static bool is_overfitted(const GrowSite<D>& site, const Hyperplane& start, const Hyperplane& plane) {
        return !site.judges.rows.empty() && !plane.is_empty() && judged_loss(site, plane) > judged_loss(site, start);
    }

    CO2Options options_;
};

}  // namespace

template <Design D>
std::unique_ptr<SplitRule<D>> co2_rule(const CO2Options& options) {
    return std::make_unique<CO2Rule<D>>(options);
}

#define SPINNEY_INSTANTIATE(D) template std::unique_ptr<SplitRule<D>> co2_rule(const CO2Options&);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
