/// The step over all leaves of all trees, [F] section 4: Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better
/// decision forests: Forest Alternating Optimization".

#include "spinney/leaf_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cholesky.hpp"
#include "spinney/parallel.hpp"

namespace spinney {
namespace {

/// Share of the gradient at the start below which there is next to nothing but rounding.
constexpr double rounding = 1e-10;

/// x . y over `size` entries, in lanes of fixed order.
double lane_dot(const double* x, const double* y, std::size_t size) {
    constexpr std::size_t n_lanes = 8;
    std::array<double, n_lanes> lanes{};
    std::size_t i = 0;
    for (; i + n_lanes <= size; i += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
    for (; i < size; ++i) lanes[i % n_lanes] += x[i] * y[i];
    for (std::size_t half = n_lanes / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    return lanes[0];
}

/// x . y of each output.
std::vector<double> column_dots(std::span<const double> x, std::span<const double> y, std::size_t n_outputs) {
    std::vector<double> sums(n_outputs);
    for (std::size_t i = 0; i < x.size(); ++i) sums[i % n_outputs] += x[i] * y[i];
    return sums;
}

}  // namespace

LeafSystem::LeafSystem(const LeafDesign& design, double l2, std::size_t direct_limit, std::size_t n_threads)
    : design_(design), l2_(l2), n_threads_(n_threads), diagonal_(leaf_weights(design, l2)) {
    if (design_.n_leaves <= direct_limit) factor();
}

/// [F, eq. (6)] with squared loss and squared penalty is ridge regression: its normal matrix A'WA + l2 I; then L L' in its place.
void LeafSystem::factor() {
    const std::size_t size = design_.n_leaves;
    factor_ = shared_weights(design_, n_threads_);
    for (std::size_t i = 0; i < size; ++i) factor_[i * size + i] = diagonal_[i];
    const auto rest = [](double value, const double* x, const double* y, std::size_t n) { return value - lane_dot(x, y, n); };
    // Without a penalty trees could trade constants; rounding must not make that a negative root.
    const auto root = [&](std::size_t i, double& pivot) {
        pivot = std::sqrt(std::max(pivot, 1e-12 * diagonal_[i]));
        return true;
    };
    static_cast<void>(factor_cholesky(factor_, size, rest, root));
}

/// Squared length of each output's gradient, in the norm of the preconditioner.
std::vector<double> LeafSystem::gradient_sizes(std::span<const double> gradient, std::size_t n_outputs) const {
    std::vector<double> sizes(n_outputs);
    for (std::size_t i = 0; i < gradient.size(); ++i)
        sizes[i % n_outputs] += gradient[i] * (gradient[i] / diagonal_[i / n_outputs]);
    return sizes;
}

void LeafSystem::solve(std::span<const double> targets, std::size_t n_outputs, std::span<double> values,
                       const StopRule& rule) const {
    if (!factor_.empty()) {
        collect(design_, targets, n_outputs, values, n_threads_);  // (A'WA + l2 I) values = A'W targets
        substitute_lower(factor_, n_outputs, values);
        substitute_upper(factor_, n_outputs, values);
        return;
    }
    std::vector<double> rows(design_.n_rows() * n_outputs), gradient(values.size());
    collect(design_, targets, n_outputs, gradient, n_threads_);
    const auto at_zero = gradient_sizes(gradient, n_outputs);
    add_up(design_, values, n_outputs, rows, n_threads_);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = targets[i] - rows[i];
    collect(design_, rows, n_outputs, gradient, n_threads_);
    for (std::size_t i = 0; i < values.size(); ++i) gradient[i] -= l2_ * values[i];
    const auto at_start = gradient_sizes(gradient, n_outputs);
    const double of_start = std::max(rule.of_start, rounding);
    std::vector<double> enough(n_outputs);
    for (std::size_t k = 0; k < n_outputs; ++k)
        enough[k] = std::max(rule.of_zero * rule.of_zero * at_zero[k], of_start * of_start * at_start[k]);
    iterate(rows, gradient, enough, values, rule.max_iterations);
}

/// Conjugate gradients, one a output side by side, preconditioned by the diagonal. `rows` is overwritten.
void LeafSystem::iterate(std::span<double> rows, std::span<double> residual, std::span<const double> enough,
                         std::span<double> values, std::size_t max_iterations) const {
    const std::size_t size = values.size(), n_outputs = enough.size();
    std::vector<double> scaled(size), direction(size), image(size);
    const auto precondition = [&] {
        for (std::size_t i = 0; i < size; ++i) scaled[i] = residual[i] / diagonal_[i / n_outputs];
    };
    precondition();
    direction = scaled;
    auto rho = column_dots(residual, scaled, n_outputs);
    for (std::size_t iteration = 0; iteration < max_iterations; ++iteration) {
        bool is_done = true;
        for (std::size_t k = 0; k < n_outputs; ++k) is_done = is_done && rho[k] <= enough[k];
        if (is_done) break;
        check_stop();
        add_up(design_, direction, n_outputs, rows, n_threads_);
        collect(design_, rows, n_outputs, image, n_threads_);
        for (std::size_t i = 0; i < size; ++i) image[i] += l2_ * direction[i];
        const auto bend = column_dots(direction, image, n_outputs);
        std::vector<double> step(n_outputs), turn(n_outputs);
        for (std::size_t k = 0; k < n_outputs; ++k) step[k] = bend[k] > 0.0 ? rho[k] / bend[k] : 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            values[i] += step[i % n_outputs] * direction[i];
            residual[i] -= step[i % n_outputs] * image[i];
        }
        precondition();
        const auto next = column_dots(residual, scaled, n_outputs);
        for (std::size_t k = 0; k < n_outputs; ++k) turn[k] = rho[k] > 0.0 ? next[k] / rho[k] : 0.0;
        for (std::size_t i = 0; i < size; ++i) direction[i] = scaled[i] + turn[i % n_outputs] * direction[i];
        rho = next;
    }
}

}  // namespace spinney
