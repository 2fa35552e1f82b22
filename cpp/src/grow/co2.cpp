/// Continuously optimised oblique splits, Algorithm 1 of [C] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random
/// Forest by Continuous Optimization of Oblique Splits".

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "add_rows.hpp"
#include "co2_leaves.hpp"
#include "spinney/grow/split_rule.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Squared length of the start as a share of the largest. At full length most rows of one-hot columns lie beyond the margin
/// of the bound, where nothing pulls, and the split stays at its column.
constexpr double start_share = 0.1;
/// Batches of a pass; small nodes have smaller ones.
constexpr std::size_t least_batches = 10;
/// Evaluations in a row without a better bound after which the learning rate is halved, and halvings after which it ends.
constexpr std::size_t patience = 2;
constexpr std::size_t most_halvings = 4;

/// One decision stump under optimisation. The hyperplane is kept over raw features; lengths are those of scaled space.
template <Design D>
class Stump {
  public:
    Stump(const GrowSite<D>& site, const CO2Options& options, const Hyperplane& start, Random random)
        : site_(site), options_(options), random_(random), w_(site.rows.width()), velocity_(w_.size()), gradient_(w_.size()),
          side_(site.reach.size()), order_(site.reach.size()),
          batch_size_(std::clamp<std::size_t>(order_.size() / least_batches, 1, options.batch_size)),
          unit_(site.targets.total_weight() / static_cast<double>(order_.size())), mean_(centre_of(site)),
          mean32_(mean_.begin(), mean_.end()), leaves_(site.targets, set_start(start)) {
        mean32_.resize(w_.size());
        std::iota(order_.begin(), order_.end(), 0U);
    }

    /// The loop of [C, Alg. 1, line 3]: CCCP, each tangent good for τ passes. Where the surrogate stops falling the learning rate
    /// is halved [C, section 4.2].
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

    /// The given split [C, Alg. 1, line 1] at the length of the start, and how its sides are filled.
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

    /// w.x of [C]: both sides of eq. (5) are in this score.
    [[nodiscard]] double score(std::size_t i) const { return site_.rows.dot(site_.reach[i], w_.data()) + offset_; }

    /// |w|^2 of [C, eq. (9)]; the bias is one of its weights.
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

    /// Takes a new tangent of the concave part [C, Alg. 1, line 4]; returns the surrogate objective [C, eq. (10)]. Keeps the
    /// hyperplane if it parts the rows: a step too far may leave them all on one side.
    double evaluate() {
        double bound = 0.0;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < side_.size(); ++i) {
            check_stop_at(i);
            if (i + 4 < side_.size()) site_.rows.prefetch(site_.reach[i + 4]);
            const double s = score(i);
            side_[i] = s < 0.0 ? -1 : 1;  // sgn(w_old.x) of [C, eq. (11)], line 7 of Alg. 1
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

    /// A departure from [C]: puts the tangent of each row where its better leaf is, not where the row is. Then the bound is a
    /// hinge, rows on the wrong side pull as well, and a start of two scores only can be left.
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

    /// A departure from [C]: tangents of a split that rows may leave. Its leaves are fitted to the sides, since gradients alone
    /// follow too slowly; what the rows want is asked before, when the leaves also know of the rows that pull.
    void let_rows_leave(bool is_early) {
        const Tally sides = tally_sides();
        if (is_early) relabel();
        if (is_parted_) leaves_.fit(sides);
    }

    void run_epoch(double learning_rate) {
        check_stop();
        random_.shuffle(std::span(order_));
        for (std::size_t first = 0; first < order_.size(); first += batch_size_) {
            if (first % 1024 < batch_size_ && first > 0) check_stop();
            step(std::span(order_).subspan(first, std::min(batch_size_, order_.size() - first)), learning_rate);
        }
    }

    /// One step of stochastic subgradients of [C, eq. (11)], averaged over a batch, with momentum [C, section 4.2]; then the
    /// projection on |w|^2 <= ν.
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
            // [C, Alg. 1, lines 9 and 12]: the step is 1 + s or -(1 - s) times the row; 0 if the row is on its side.
            const int pull = worst == 0 ? 1 + side_[i] : -(1 - side_[i]);
            if (pull == 0) continue;
            active_.push_back(site_.reach[i]);
            slopes_.push_back(static_cast<float>(pull * row_weight / unit_));
            bias_slope += pull * row_weight;
        }
        std::ranges::fill(gradient_, 0.0F);
        add_rows(site_.rows, active_, slopes_, mean32_, site_.scaling.metric32, std::span(gradient_));
        move(static_cast<float>(unit_ / weight), static_cast<float>(learning_rate));
        bias_velocity_ = options_.momentum * bias_velocity_ + bias_slope / weight;
        bias_ += learning_rate * bias_velocity_;
        leaves_.step(learning_rate, options_.momentum, weight);
        project();
    }

    /// w by the mean gradient; a rate times a velocity in place of the plain step of lines 9 and 12.
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
    [[nodiscard]] bool searches_columns() const override { return true; }
    Hyperplane find(const GrowSite<D>& site, Random random) const override {
        Hyperplane start = best_axis(site, random);
        if (start.is_empty()) return start;
        const Hyperplane plane = Stump<D>(site, options_, start, random).result();
        return is_overfitted(site, start, plane) ? start : plane;
    }

  private:
    /// A departure from [C]: whether judges, if there are any, want the column that it started from.
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
