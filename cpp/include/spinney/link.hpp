#pragma once
/// Smooth losses of linear models: what a solver needs to know of the loss, and nothing of the rows.
///
/// A link holds the labels or targets of the problem's entries 0, 1, ..., and is asked for the loss at
/// given scores. Entry weights belong to the problem, not to the link. `slopes` takes entries in any
/// order and uses their scores up; scores and slopes of an entry lie side by side, one an output.
/// `differentiate` returns the loss of one entry and turns its scores into slopes, in double.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spinney {

/// Loss, slope and curvature of consecutive entries at their scores (one output).
struct LinkBlock {
    std::span<const double> scores;
    double* loss;
    double* slope;
    double* curvature;
};

/// log(1 + exp(-y (s - offset))) for labels y in {-1, +1}; no offsets means zero.
class LogisticLink {
  public:
    static constexpr bool has_bounded_slopes = true;
    explicit LogisticLink(std::span<const std::int8_t> labels, std::span<const double> offsets = {})
        : labels_(labels), offsets_(offsets) {}
    [[nodiscard]] static std::size_t n_outputs() { return 1; }
    [[nodiscard]] static double max_curvature() { return 0.25; }
    void evaluate(std::size_t first, const LinkBlock& block) const;
    void slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const;

  private:
    [[nodiscard]] double margin(std::size_t entry, double score) const {
        return labels_[entry] * (offsets_.empty() ? score : score - offsets_[entry]);
    }
    std::span<const std::int8_t> labels_;
    std::span<const double> offsets_;
};

/// Losses of a real target.
enum class TargetLoss : std::uint8_t { squared, absolute, huber };

/// Loss of a residual r = y - s: r^2, |r|, or Huber's (r^2/2 within delta, linear beyond).
[[nodiscard]] inline double target_loss(TargetLoss kind, double delta, double residual) {
    const double size = std::fabs(residual);
    if (kind == TargetLoss::squared) return residual * residual;
    if (kind == TargetLoss::absolute) return size;
    return size <= delta ? 0.5 * residual * residual : delta * (size - 0.5 * delta);
}

/// Loss of a real target. The absolute loss is smoothed within `delta` of the target, which the
/// caller makes small; its Newton curvature is that of iterated reweighted least squares.
class TargetLink {
  public:
    static constexpr bool has_bounded_slopes = false;
    TargetLink(std::vector<double> targets, TargetLoss kind, double delta)
        : targets_(std::move(targets)), kind_(kind), delta_(delta) {}
    [[nodiscard]] static std::size_t n_outputs() { return 1; }
    [[nodiscard]] double max_curvature() const;
    void evaluate(std::size_t first, const LinkBlock& block) const;
    void slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const;
    double differentiate(std::size_t entry, std::span<double> scores) const;

  private:
    [[nodiscard]] double slope(double residual) const;
    std::vector<double> targets_;
    TargetLoss kind_;
    double delta_;
};

/// Cross-entropy of a softmax over n_outputs classes. With two classes the first score is fixed at
/// zero, which halves the parameters of a binary leaf to those of a logistic regression.
class SoftmaxLink {
  public:
    static constexpr bool has_bounded_slopes = true;
    SoftmaxLink(std::vector<std::int32_t> labels, std::size_t n_classes) : labels_(std::move(labels)), n_classes_(n_classes) {}
    [[nodiscard]] std::size_t n_outputs() const { return n_classes_; }
    [[nodiscard]] static double max_curvature() { return 0.5; }
    void slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const;
    double differentiate(std::size_t entry, std::span<double> scores) const;

  private:
    std::vector<std::int32_t> labels_;
    std::size_t n_classes_;
};

}  // namespace spinney
