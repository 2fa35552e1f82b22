#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "spinney/convex.hpp"
#include "spinney/parallel.hpp"
#include "spinney/solve_linear.hpp"

namespace spinney {
namespace {

/// Value, gradient and Hessian of the smooth part at one point; the bias is kept apart.
struct Model {
    std::size_t n_features, stride;
    double value = 0.0;
    std::vector<double> gradient, hessian, bias_column;
    double bias_gradient = 0.0, bias_hessian = 0.0;

    explicit Model(std::size_t d)
        : n_features(d), stride((d + 3) / 4 * 4), gradient(stride), hessian(stride * stride), bias_column(stride) {}

    void clear() {
        value = bias_gradient = bias_hessian = 0.0;
        std::ranges::fill(gradient, 0.0);
        std::ranges::fill(hessian, 0.0);
        std::ranges::fill(bias_column, 0.0);
    }
    void mirror() {
        for (std::size_t i = 0; i < stride; ++i)
            for (std::size_t j = 0; j < i; ++j) hessian[i * stride + j] = hessian[j * stride + i];
    }
};

struct Point {
    std::vector<double> w;
    double bias = 0.0;
};

/// Working memory of the pass over one block of rows.
struct Block {
    std::vector<double> z;
    double score[block_rows], loss[block_rows], slope[block_rows], curvature[block_rows];
    explicit Block(std::size_t stride) : z(block_rows * stride) {}
};

template <Design D, class Link>
class NewtonSolver {
  public:
    NewtonSolver(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link,
                 const LinearOptions& options)
        : rows_(rows), scaling_(scaling), entries_(entries), link_(link), options_(options), model_(rows.n_features),
          block_(model_.stride) {}

    void solve(std::span<float> w, double& bias) {
        Point best{std::vector<double>(model_.stride), 0.0};
        scaling_.to_standard(w, bias, std::span(best.w).first(w.size()), best.bias);
        double best_value = evaluate(best, true);
        for (std::size_t step = 0; step < options_.max_newton; ++step) {
            check_stop();
            Point next = minimise_model(best);
            const bool is_last = step + 1 == options_.max_newton;
            double value = evaluate(next, !is_last);
            for (int halving = 0; !(value <= best_value) && halving < 8; ++halving) {
                for (std::size_t j = 0; j < next.w.size(); ++j) next.w[j] = 0.5 * (next.w[j] + best.w[j]);
                next.bias = 0.5 * (next.bias + best.bias);
                value = evaluate(next, !is_last);
            }
            if (!(value <= best_value)) break;
            const bool is_flat = best_value - value <= options_.tolerance * best_value;
            best = std::move(next);
            best_value = value;
            if (is_flat) break;
        }
        scaling_.to_raw(std::span(std::as_const(best.w)).first(w.size()), best.bias, w, bias);
    }

  private:
    /// Objective at `at`; with curvature, model_ holds its second-order expansion there.
    double evaluate(const Point& at, bool with_curvature) {
        model_.clear();
        for (std::size_t first = 0; first < entries_.rows.size(); first += block_rows) {
            check_stop_at(first);
            add_block(first, at, with_curvature);
        }
        if (with_curvature) model_.mirror();
        double objective = model_.value;
        for (double w : at.w) objective += options_.alpha * std::fabs(w) + 0.5 * options_.ridge * w * w;
        return objective;
    }

    void add_block(std::size_t first, const Point& at, bool with_curvature) {
        const std::size_t count = std::min(block_rows, entries_.rows.size() - first);
        const std::size_t stride = model_.stride;
        double* z = block_.z.data();
        for (std::size_t r = 0; r < count; ++r) standard_row(rows_, entries_.rows[first + r], scaling_, z + r * stride);
        kernels().block_scores(z, count, stride, at.w.data(), at.bias, block_.score);
        link_.evaluate(first, {{block_.score, count}, block_.loss, block_.slope, block_.curvature});
        for (std::size_t r = 0; r < count; ++r) model_.value += entries_.weights[first + r] * block_.loss[r];
        if (!with_curvature) return;
        for (std::size_t r = 0; r < count; ++r) {
            model_.bias_gradient += block_.slope[r] *= entries_.weights[first + r];
            model_.bias_hessian += block_.curvature[r] *= entries_.weights[first + r];
        }
        kernels().add_block_gradient(z, count, stride, block_.slope, model_.gradient.data());
        kernels().add_block_gradient(z, count, stride, block_.curvature, model_.bias_column.data());
        kernels().add_hessian(z, count, stride, block_.curvature, model_.hessian.data());
    }

    /// Minimiser of the quadratic model plus the penalties, by coordinate descent.
    [[nodiscard]] Point minimise_model(const Point& at) const {
        constexpr std::size_t max_passes = 50;
        constexpr double model_tolerance = 1e-2;  // the model is only an approximation of the objective
        // A direction without curvature (separated rows, a duplicated column) must not get an endless step.
        const double floor = 1e-10 * (1.0 + model_.bias_hessian);
        Point to = at;
        std::vector<double> residual = model_.gradient;  // gradient of the model at `to`
        double bias_residual = model_.bias_gradient;
        for (std::size_t pass = 0; pass < max_passes; ++pass) {
            check_stop_after(model_.n_features);
            double largest = 0.0;
            for (std::size_t j = 0; j < model_.n_features; ++j) {
                const double* column = model_.hessian.data() + j * model_.stride;
                const double curvature = column[j] + options_.ridge + floor;
                const double moved = to.w[j] - (residual[j] + options_.ridge * to.w[j]) / curvature;
                const double step = soft_threshold(moved, options_.alpha / curvature) - to.w[j];
                if (step == 0.0) continue;
                to.w[j] += step;
                for (std::size_t i = 0; i < model_.stride; ++i) residual[i] += step * column[i];
                bias_residual += step * model_.bias_column[j];
                largest = std::max(largest, step * step * curvature);
            }
            const double step = -bias_residual / (model_.bias_hessian + floor);
            to.bias += step;
            bias_residual += step * model_.bias_hessian;
            for (std::size_t i = 0; i < model_.stride; ++i) residual[i] += step * model_.bias_column[i];
            largest = std::max(largest, step * step * model_.bias_hessian);
            if (largest <= model_tolerance * options_.tolerance * model_.value) break;
        }
        return to;
    }

    const D& rows_;
    const Scaling& scaling_;
    WeightedRows entries_;
    const Link& link_;
    LinearOptions options_;
    Model model_;
    Block block_;
};

}  // namespace

template <Design D, class Link>
void solve_newton(const D& rows, const Scaling& scaling, const WeightedRows& entries, const Link& link,
                  const LinearOptions& options, std::span<float> w, double& bias) {
    NewtonSolver<D, Link>(rows, scaling, entries, link, options).solve(w, bias);
}

#define SPINNEY_INSTANTIATE(D)                                                                                           \
    template void solve_newton(const D&, const Scaling&, const WeightedRows&, const LogisticLink&, const LinearOptions&, \
                               std::span<float>, double&);                                                               \
    template void solve_newton(const D&, const Scaling&, const WeightedRows&, const TargetLink&, const LinearOptions&,   \
                               std::span<float>, double&);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

}  // namespace spinney
