#include "spinney/link.hpp"

#include <algorithm>

#include "spinney/simd.hpp"

namespace spinney {

void LogisticLink::evaluate(std::size_t first, const LinkBlock& block) const {
    const std::size_t count = block.scores.size();
    double margins[block_rows];
    for (std::size_t r = 0; r < count; ++r) margins[r] = margin(first + r, block.scores[r]);
    kernels().logistic({margins, count}, block.slope, block.loss);
    for (std::size_t r = 0; r < count; ++r) {
        const double p = block.slope[r];
        block.slope[r] = -labels_[first + r] * (1.0 - p);
        block.curvature[r] = p * (1.0 - p);
    }
}

void LogisticLink::slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const {
    for (std::size_t i = 0; i < entries.size(); ++i) scores[i] = margin(entries[i], scores[i]);
    kernels().sigmoid({scores, entries.size()});
    for (std::size_t i = 0; i < entries.size(); ++i) out[i] = static_cast<float>(-labels_[entries[i]] * (1.0 - scores[i]));
}

double TargetLink::max_curvature() const {
    if (kind_ == TargetLoss::squared) return 2.0;
    return kind_ == TargetLoss::huber ? 1.0 : 1.0 / delta_;
}

double TargetLink::slope(double residual) const {
    if (kind_ == TargetLoss::squared) return -2.0 * residual;
    const double clipped = std::clamp(residual, -delta_, delta_);
    return kind_ == TargetLoss::huber ? -clipped : -clipped / delta_;
}

void TargetLink::evaluate(std::size_t first, const LinkBlock& block) const {
    for (std::size_t r = 0; r < block.scores.size(); ++r) {
        const double residual = targets_[first + r] - block.scores[r];
        const double size = std::max(std::fabs(residual), delta_);
        block.loss[r] = target_loss(kind_, delta_, residual);
        block.slope[r] = slope(residual);
        if (kind_ == TargetLoss::squared)
            block.curvature[r] = 2.0;
        else
            block.curvature[r] = kind_ == TargetLoss::huber ? delta_ / size : 1.0 / size;
    }
}

void TargetLink::slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const {
    for (std::size_t i = 0; i < entries.size(); ++i) out[i] = static_cast<float>(slope(targets_[entries[i]] - scores[i]));
}

double TargetLink::differentiate(std::size_t entry, std::span<double> scores) const {
    const double residual = targets_[entry] - scores[0];
    scores[0] = slope(residual);
    if (kind_ != TargetLoss::absolute) return target_loss(kind_, delta_, residual);
    return target_loss(TargetLoss::huber, delta_, residual) / delta_;  // the smoothed loss that `slope` belongs to
}

void SoftmaxLink::slopes(std::span<const std::uint32_t> entries, double* scores, float* out) const {
    for (std::size_t i = 0; i < entries.size(); ++i, out += n_classes_) {
        const std::span<double> shares(scores + i * n_classes_, n_classes_);
        kernels().softmax(shares);
        for (std::size_t k = 0; k < n_classes_; ++k) out[k] = static_cast<float>(shares[k]);
        out[labels_[entries[i]]] -= 1.0F;
        if (n_classes_ == 2) out[0] = 0.0F;
    }
}

double SoftmaxLink::differentiate(std::size_t entry, std::span<double> scores) const {
    const auto label = static_cast<std::size_t>(labels_[entry]);
    const double own = scores[label];
    const double top = *std::ranges::max_element(scores);
    double sum = 0.0;
    for (double score : scores) sum += std::exp(score - top);
    kernels().softmax(scores);
    scores[label] -= 1.0;
    if (n_classes_ == 2) scores[0] = 0.0;
    return top + std::log(sum) - own;
}

}  // namespace spinney
