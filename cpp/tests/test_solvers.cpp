#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "check.hpp"
#include "data.hpp"
#include "spinney/parallel.hpp"
#include "spinney/relax.hpp"
#include "spinney/solve_axis.hpp"
#include "spinney/solve_linear.hpp"
#include "spinney/table/block.hpp"

namespace spinney::test {
namespace {

/// A weighted logistic problem with everything the solvers borrow.
struct LogisticProblem {
    Matrix x;
    std::vector<std::int8_t> labels;
    std::vector<double> weights;
    Scaling scaling;
    std::vector<std::uint32_t> rows;

    LogisticProblem(std::size_t n, std::size_t d, double density, bool is_centred, std::uint64_t seed = 1)
        : x(random_matrix(n, d, density, seed)), labels(random_labels(x, seed)), weights(random_weights(n, seed)),
          scaling(scaling_of(x, weights, is_centred)), rows(all_rows(n)) {}

    [[nodiscard]] WeightedRows entries() const { return {rows, weights}; }
};

struct Solution {
    std::vector<float> w;
    double bias = 0.0;
};

/// Raw weights in standardised space.
std::vector<double> standard_weights(const LogisticProblem& p, const Solution& s) {
    std::vector<double> w(s.w.size());
    double bias = 0.0;
    p.scaling.to_standard(s.w, s.bias, w, bias);
    return w;
}

double score(const LogisticProblem& p, const Solution& s, std::size_t n) {
    double sum = s.bias;
    for (std::size_t j = 0; j < s.w.size(); ++j)
        sum += static_cast<double>(s.w[j]) * static_cast<double>(p.x.values[n * p.x.n_features + j]);
    return sum;
}

double objective(const LogisticProblem& p, const LinearOptions& options, const Solution& s) {
    double sum = 0.0;
    for (std::size_t n = 0; n < p.x.n_rows; ++n) {
        const double margin = p.labels[n] * score(p, s, n);
        sum += p.weights[n] * (std::max(-margin, 0.0) + std::log1p(std::exp(-std::fabs(margin))));
    }
    for (double w : standard_weights(p, s)) sum += options.alpha * std::fabs(w) + 0.5 * options.ridge * w * w;
    return sum;
}

template <Design D>
Solution newton(const LogisticProblem& p, const D& rows, const LinearOptions& options) {
    Solution s{std::vector<float>(rows.width())};
    solve_newton(rows, p.scaling, p.entries(), LogisticLink(p.labels), options, std::span(s.w), s.bias);
    return s;
}

template <Design D>
Solution stream(const LogisticProblem& p, const D& rows, const LinearOptions& options) {
    Solution s{std::vector<float>(rows.width())};
    solve_stream(rows, p.scaling, squared_norms(rows, p.scaling, 1), p.entries(), LogisticLink(p.labels), options, Random(3),
                 std::span(s.w), std::span(&s.bias, 1));
    return s;
}

LinearOptions exact(double alpha, double ridge) {
    LinearOptions options;
    options.alpha = alpha;
    options.ridge = ridge;
    options.max_newton = 100;
    options.tolerance = 1e-12;
    return options;
}

void newton_meets_the_optimality_conditions() {
    for (std::size_t d : {1U, 5U, 16U, 30U})
        for (const auto& [alpha, ridge] : {std::pair(3.0, 0.0), std::pair(0.1, 0.0), std::pair(0.0, 2.0)}) {
            const LogisticProblem p(300, d, 0.8, true, d);
            const LinearOptions options = exact(alpha, ridge);
            const Solution s = newton(p, p.x.dense(), options);
            const auto w = standard_weights(p, s);
            std::vector<double> gradient(d);
            double bias_gradient = 0.0;
            std::vector<double> z(d);
            for (std::size_t n = 0; n < p.x.n_rows; ++n) {
                const double slope = -p.weights[n] * p.labels[n] / (1.0 + std::exp(p.labels[n] * score(p, s, n)));
                standard_row(p.x.dense(), n, p.scaling, z.data());
                for (std::size_t j = 0; j < d; ++j) gradient[j] += slope * z[j];
                bias_gradient += slope;
            }
            expect_near(bias_gradient, 0.0, 1e-3, "gradient of the bias");
            for (std::size_t j = 0; j < d; ++j) {
                const double smooth = gradient[j] + ridge * w[j];
                if (w[j] == 0.0)
                    expect(std::fabs(smooth) <= alpha + 1e-3, "a zero weight has a small gradient");
                else
                    expect_near(smooth, -std::copysign(alpha, w[j]), 1e-3, "gradient of a used weight");
            }
        }
}

void newton_is_the_same_for_dense_and_sparse_rows() {
    const LogisticProblem p(200, 10, 0.3, true);
    const Solution dense = newton(p, p.x.dense(), exact(1.0, 0.0));
    const Solution sparse = newton(p, p.x.sparse(), exact(1.0, 0.0));
    expect_equal(dense.w, sparse.w, "weights");
    expect_equal(dense.bias, sparse.bias, "bias");
}

void padding_changes_no_solution() {
    for (std::size_t d : {1U, 5U, 8U, 17U, 31U, 47U, 100U}) {
        const LogisticProblem p(300, d, 0.8, true, d);
        const auto rows = padded(p.x);
        LinearOptions options = exact(0.5, 0.1);
        options.max_newton = 3;
        options.epochs = 2;
        const auto expect_same = [&](const Solution& plain, const Solution& wide) {
            expect_equal(wide.w, widened(std::span<const float>(plain.w), d, padded_size(d)), "hyperplane, and zeros behind it");
            expect_equal(wide.bias, plain.bias, "bias");
        };
        expect_same(newton(p, p.x.dense(), options), newton(p, rows.view(), options));
        expect_same(stream(p, p.x.dense(), options), stream(p, rows.view(), options));
    }
}

void newton_never_ends_above_its_start() {
    const LogisticProblem p(100, 8, 1.0, true);
    for (std::size_t max_newton : {1U, 2U, 3U}) {
        LinearOptions options = exact(0.5, 0.0);
        options.max_newton = max_newton;
        Solution s{std::vector<float>(8, 5.0F), -3.0};
        const double before = objective(p, options, s);
        solve_newton(p.x.dense(), p.scaling, p.entries(), LogisticLink(p.labels), options, std::span(s.w), s.bias);
        expect(objective(p, options, s) <= before * (1.0 + 1e-6), "objective from a bad start");
    }
}

/// The last step is believed where its model promises little, which is no proof: few steps may end above their start, by little.
void unchecked_steps_hardly_ever_rise() {
    constexpr std::size_t n_problems = 3000;
    std::size_t n_risen = 0;
    for (std::uint64_t seed = 0; seed < n_problems; ++seed) {
        Random random(seed, 20);
        const std::size_t d = 1 + random.below(12);
        const LogisticProblem p(2 + random.below(80), d, 0.8, true, seed);
        LinearOptions options = exact(0.2 * random.uniform(), 0.1 * random.uniform());
        options.max_newton = 1;
        const double size = std::pow(10.0, 4.0 * random.uniform() - 3.0);
        Solution s{std::vector<float>(d), size * random.normal()};
        for (float& w : s.w) w = static_cast<float>(size * random.normal());
        const double before = objective(p, options, s);
        solve_newton(p.x.dense(), p.scaling, p.entries(), LogisticLink(p.labels), options, std::span(s.w), s.bias);
        const double after = objective(p, options, s);
        expect(after <= 1.1 * before, "no step goes astray");
        if (!(after <= before * (1.0 + 1e-6))) ++n_risen;
    }
    expect(n_risen <= n_problems / 200, "steps that raise the objective: " + std::to_string(n_risen));
}

/// Far on the wrong side curvatures vanish and slopes do not: the model promises the earth.
void steps_from_afar_stay_finite() {
    const LogisticProblem p(60, 3, 1.0, true);
    for (const float size : {30.0F, 1e3F, 1e6F, 1e20F}) {
        LinearOptions options = exact(0.1, 0.0);
        options.max_newton = 1;
        Solution s{std::vector<float>(3, -size), static_cast<double>(size)};
        const double before = objective(p, options, s);
        solve_newton(p.x.dense(), p.scaling, p.entries(), LogisticLink(p.labels), options, std::span(s.w), s.bias);
        expect(objective(p, options, s) <= before * (1.0 + 1e-6), "objective from afar");
    }
}

/// Duplicated columns, and one that hardly varies beside its size, leave the model without curvature in some directions.
void nearly_singular_models_are_solved() {
    LogisticProblem p(200, 4, 1.0, true);
    for (std::size_t n = 0; n < 200; ++n) {
        p.x.values[4 * n + 1] = p.x.values[4 * n];
        p.x.values[4 * n + 2] = 1e6F + 0.5F * p.x.values[4 * n + 2];
    }
    p.scaling = Scaling(std::vector<double>(4), std::vector<double>(4, 1.0));
    const Solution start{std::vector<float>(4)};
    for (std::size_t max_newton : {1U, 100U}) {
        LinearOptions options = exact(0.1, 0.0);
        options.max_newton = max_newton;
        expect(objective(p, options, newton(p, p.x.dense(), options)) < objective(p, options, start), "the objective falls");
    }
}

/// Rows of the second and third block of a table: the problem is that of the rows gathered, sums are those of the blocks.
void newton_sums_block_by_block() {
    const LogisticProblem p(3000, 6, 0.8, true);
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t n = 0; n < 3000; ++n) numbers.push_back(n < 1700 ? n : static_cast<std::uint32_t>(table_block) + n);
    const auto solve = [&](std::span<const std::uint32_t> table_rows) {
        Solution s{std::vector<float>(6)};
        solve_newton(p.x.dense(), p.scaling, {p.rows, p.weights, table_rows}, LogisticLink(p.labels), exact(0.5, 0.1),
                     std::span(s.w), s.bias);
        return s;
    };
    const Solution whole = solve({});
    const Solution parts = solve(numbers);
    for (std::size_t j = 0; j < 6; ++j) expect_near(parts.w[j], whole.w[j], 1e-5, "weight");
    expect_near(parts.bias, whole.bias, 1e-5, "bias");

    std::vector<std::pair<std::size_t, std::size_t>> segments;
    const auto keep = [&](std::size_t first, std::size_t last) { segments.emplace_back(first, last); };
    for_each_block_segment(numbers, keep);
    expect(segments == std::vector<std::pair<std::size_t, std::size_t>>{{0, 1700}, {1700, 3000}}, "segments of two blocks");
    segments.clear();
    for_each_block_segment({}, keep);
    expect(segments.empty(), "no rows, no segment");
    const std::vector<std::uint32_t> back{5, 20000, 6, 7};
    for_each_block_segment(back, keep);
    expect(segments == std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 2}, {2, 4}}, "a block that comes again");
}

/// A problem in pieces has the same bits at every level, as one in a single piece.
void newton_has_the_same_bits_at_all_levels() {
    const std::string_view best = simd_level();
    for (std::size_t d : {3U, 16U, 30U, 57U}) {
        const LogisticProblem p(500, d, 0.8, true, d);
        const auto rows = padded(p.x);
        std::vector<std::uint32_t> numbers(p.rows);
        for (std::size_t n = 301; n < 500; ++n) numbers[n] += static_cast<std::uint32_t>(table_block);
        const auto solve = [&] {
            Solution s{std::vector<float>(rows.view().width())};
            solve_newton(rows.view(), p.scaling, {p.rows, p.weights, numbers}, LogisticLink(p.labels), exact(0.1, 0.1),
                         std::span(s.w), s.bias);
            return s;
        };
        use_simd_level("baseline");
        const Solution wanted = solve();
        for (std::string_view level : simd_levels()) {
            use_simd_level(level);
            const Solution found = solve();
            expect_equal(found.w, wanted.w, "weights");
            expect_equal(found.bias, wanted.bias, "bias");
        }
        use_simd_level(best);
    }
}

void constant_column_gets_no_weight() {
    LogisticProblem p(100, 4, 1.0, true);
    for (std::size_t n = 0; n < 100; ++n) p.x.values[4 * n + 2] = 7.0F;
    p.scaling = scaling_of(p.x, p.weights, true);
    LinearOptions options = exact(0.01, 0.0);
    options.epochs = 20;
    expect_equal(newton(p, p.x.dense(), options).w[2], 0.0F, "Newton");
    expect_equal(stream(p, p.x.dense(), options).w[2], 0.0F, "stream");
}

void large_alpha_gives_zero_weights() {
    const LogisticProblem p(100, 6, 0.5, true);
    LinearOptions options = exact(1e4, 0.0);
    options.epochs = 20;
    const std::vector<float> zeros(6, 0.0F);
    expect_equal(newton(p, p.x.dense(), options).w, zeros, "Newton");
    expect_equal(stream(p, p.x.dense(), options).w, zeros, "stream of dense rows");
    expect_equal(stream(p, p.x.sparse(), options).w, zeros, "stream of sparse rows");
}

template <class View>
void expect_stream_near_newton(bool is_centred, double density, const View& view, std::string_view claim) {
    for (std::size_t d : {6U, 40U})
        for (const auto& [alpha, ridge] : {std::pair(2.0, 0.0), std::pair(0.0, 2.0)}) {
            const LogisticProblem p(400, d, density, is_centred, d);
            LinearOptions options = exact(alpha, ridge);
            options.epochs = 80;
            options.step = 1.0 / 3.0;  // longer steps are faster at first but need not converge
            const double best = objective(p, options, newton(p, p.x.dense(), options));
            const double found = objective(p, options, stream(p, view(p.x), options));
            expect(found >= best * (1.0 - 1e-6), "nothing is below the optimum");
            expect(found <= best * 1.01, claim);
        }
}

void streaming_comes_near_newton() {
    const auto dense = [](const Matrix& x) { return x.dense(); };
    const auto sparse = [](const Matrix& x) { return x.sparse(); };
    expect_stream_near_newton(true, 1.0, dense, "dense rows within 1 % of the optimum");
    expect_stream_near_newton(false, 0.2, sparse, "sparse rows within 1 % of the optimum");
}

/// Three rows are too few for the batches of the dense solver, so both take the same single steps: one
/// moves every column at each of them, the other brings a column up to date when it is met.
void lazy_streaming_equals_eager_streaming() {
    for (const auto& [alpha, ridge] : {std::pair(0.02, 0.0), std::pair(0.3, 0.0), std::pair(0.0, 0.5)})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            LogisticProblem p(3, 50, 0.3, false, seed);
            p.labels = {1, -1, 1};
            p.weights = {1.0, 1.2, 0.8};
            p.scaling = Scaling(std::vector<double>(50, 0.0), std::vector<double>(50, 0.5));
            LinearOptions options = exact(alpha, ridge);
            options.epochs = 12;
            const Solution eager = stream(p, p.x.dense(), options);
            const Solution lazy = stream(p, p.x.sparse(), options);
            expect_near(lazy.bias, eager.bias, 1e-4, "bias");
            for (std::size_t j = 0; j < 50; ++j) expect_near(lazy.w[j], eager.w[j], 1e-4, "weight");
        }
}

void lazy_softmax_equals_eager_softmax() {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        LogisticProblem p(3, 30, 0.3, false, seed);
        p.weights = {1.0, 1.2, 0.8};
        const Scaling scaling(std::vector<double>(30, 0.0), std::vector<double>(30, 0.5));
        LinearOptions options = exact(0.05, 0.0);
        options.epochs = 10;
        const auto solve = [&](const auto& rows) {
            std::vector<float> w(3 * 30);
            std::vector<double> bias(3);
            solve_stream(rows, scaling, squared_norms(rows, scaling, 1), p.entries(), SoftmaxLink({0, 2, 1}, 3), options,
                         Random(seed), std::span(w), std::span(bias));
            w.insert(w.end(), bias.begin(), bias.end());
            return w;
        };
        const auto eager = solve(p.x.dense());
        const auto lazy = solve(p.x.sparse());
        for (std::size_t i = 0; i < eager.size(); ++i) expect_near(lazy[i], eager[i], 1e-4, "parameter");
    }
}

void streaming_does_not_depend_on_the_threads() {
    const LogisticProblem p(9000, 5, 0.7, true);
    LinearOptions options = exact(1.0, 0.0);
    const Solution one = stream(p, p.x.dense(), options);
    options.n_threads = 3;
    const Solution three = stream(p, p.x.dense(), options);
    expect_equal(one.w, three.w, "weights");
    expect_equal(one.bias, three.bias, "bias");
}

/// Every threshold of every feature, both ways, judged row by row.
double least_axis_cost(const Matrix& x, std::span<const std::int8_t> labels, std::span<const double> weights, double alpha) {
    const auto cost_of = [&](const auto& goes_right) {
        double cost = 0.0;
        for (std::size_t n = 0; n < x.n_rows; ++n)
            if (goes_right(n) != (labels[n] > 0)) cost += weights[n];
        return cost;
    };
    double best = std::min(cost_of([](std::size_t) { return true; }), cost_of([](std::size_t) { return false; }));
    for (std::size_t j = 0; j < x.n_features; ++j)
        for (std::size_t at = 0; at < x.n_rows; ++at) {
            const float t = x.values[at * x.n_features + j];
            const auto up = [&](std::size_t n) { return x.values[n * x.n_features + j] >= t; };
            best = std::min({best, alpha + cost_of(up), alpha + cost_of([&](std::size_t n) { return !up(n); })});
        }
    return best;
}

template <Design D>
void expect_exact_axis(const Matrix& x, const D& rows, std::span<const std::int8_t> labels, std::span<const double> weights,
                       double alpha) {
    const auto numbers = all_rows(x.n_rows);
    const AxisSplit split = solve_axis(rows, {numbers, labels, weights}, alpha);
    expect_near(split.cost, least_axis_cost(x, labels, weights, alpha), 1e-9, "least cost");
    double cost = split.feature >= 0 ? alpha : 0.0;
    for (std::size_t n = 0; n < x.n_rows; ++n) {
        double value = split.bias;
        if (split.feature >= 0)
            value += static_cast<double>(split.sign * x.values[n * x.n_features + static_cast<std::size_t>(split.feature)]);
        if ((value >= 0.0) != (labels[n] > 0)) cost += weights[n];
    }
    expect_near(cost, split.cost, 1e-9, "the split costs what it says");
}

void axis_solver_equals_brute_force() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::size_t n = 1 + seed;
        const Matrix tied = tied_matrix(n, 3, seed);
        const Matrix spread = random_matrix(n, 3, 0.5, seed);
        const auto weights = random_weights(n, seed);
        for (const Matrix* x : {&tied, &spread})
            for (double alpha : {0.0, 0.7, 100.0}) {
                const auto labels = random_labels(*x, seed);
                expect_exact_axis(*x, x->dense(), labels, weights, alpha);
                expect_exact_axis(*x, x->sparse(), labels, weights, alpha);
            }
    }
}

void axis_threshold_survives_rounding() {
    constexpr float one = 1.0F;
    const float next = std::nextafter(one, 2.0F);
    const float huge = std::numeric_limits<float>::max();
    for (const auto& [a, b] : {std::pair(one, next), std::pair(-huge, huge), std::pair(0.0F, 1e-45F)})
        for (std::int8_t first : {std::int8_t{-1}, std::int8_t{1}}) {
            const Matrix x({a, b}, 2, 1);
            const std::vector<std::int8_t> labels{first, static_cast<std::int8_t>(-first)};
            expect_exact_axis(x, x.dense(), labels, std::vector<double>{1.0, 1.0}, 0.1);
            expect_exact_axis(x, x.sparse(), labels, std::vector<double>{1.0, 1.0}, 0.1);
        }
}

void moments_are_those_of_the_columns() {
    const Matrix x = random_matrix(5000, 4, 0.3, 1);
    const auto weights = random_weights(5000, 1);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const Moments dense = column_moments(x.dense(), weights, 1);
    const Moments threaded = column_moments(x.dense(), weights, 3);
    const Moments sparse = column_moments(x.sparse(), weights, 2);
    expect_equal(dense.mean, threaded.mean, "threads change no mean");
    expect_equal(dense.deviation, threaded.deviation, "threads change no deviation");
    expect_equal(dense.low, sparse.low, "lowest value");
    expect_equal(dense.high, sparse.high, "highest value");
    for (std::size_t j = 0; j < 4; ++j) {
        double mean = 0.0;
        double square = 0.0;
        for (std::size_t n = 0; n < 5000; ++n) mean += weights[n] * static_cast<double>(x.values[4 * n + j]) / total;
        for (std::size_t n = 0; n < 5000; ++n)
            square += weights[n] * std::pow(static_cast<double>(x.values[4 * n + j]) - mean, 2) / total;
        expect_near(dense.mean[j], mean, 1e-12, "mean");
        expect_near(sparse.mean[j], mean, 1e-12, "mean of sparse rows");
        expect_near(dense.deviation[j], std::sqrt(square), 1e-12, "deviation");
        expect_near(sparse.deviation[j], std::sqrt(square), 1e-12, "deviation of sparse rows");
    }
}

void standard_space_keeps_scores() {
    const LogisticProblem p(20, 5, 0.6, true);
    const Solution s{{1.0F, 0.0F, -2.0F, 0.5F, 3.0F}, 0.7};
    std::vector<double> w(5), z(5);
    double bias = 0.0;
    p.scaling.to_standard(s.w, s.bias, w, bias);
    for (std::size_t n = 0; n < 20; ++n) {
        standard_row(p.x.sparse(), n, p.scaling, z.data());
        expect_near(std::inner_product(w.begin(), w.end(), z.begin(), bias), score(p, s, n), 1e-9, "score");
    }
    Solution back{std::vector<float>(5)};
    p.scaling.to_raw(w, bias, back.w, back.bias);
    expect_equal(back.w, s.w, "weights there and back");
    expect_near(back.bias, s.bias, 1e-12, "bias there and back");
}

void largest_weights_are_kept_as_if_the_others_were_at_their_means() {
    const Scaling scaling({1.0, 2.0, -1.0, 4.0, 0.0}, {1.0, 0.1, 2.0, 0.0, 1.0});
    // Sizes in standardised space: 1, 30, 1, none (a constant column), 2.
    std::vector<float> w{1.0F, 3.0F, -2.0F, 5.0F, 2.0F};
    double bias = 0.5;
    scaling.keep_largest(5, w, bias);
    expect_equal(w, std::vector{1.0F, 3.0F, -2.0F, 5.0F, 2.0F}, "as many as there are");
    scaling.keep_largest(3, w, bias);
    expect_equal(w, std::vector{1.0F, 3.0F, 0.0F, 0.0F, 2.0F}, "of equal ones the first is kept");
    expect_near(bias, 0.5 + 2.0 + 20.0, 1e-12, "the bias takes the place of what is dropped");
    scaling.keep_largest(1, w, bias);
    expect_equal(w, std::vector{0.0F, 3.0F, 0.0F, 0.0F, 0.0F}, "the largest in standardised space");
    expect_near(bias, 22.5 + 1.0, 1e-12, "bias");
}

/// The logistic problem as a softmax of two classes, relaxed from the weights of `start`.
template <Design D>
Solution relaxed(const LogisticProblem& p, const D& rows, const Solution& start, double ridge) {
    std::vector<std::int32_t> classes;
    for (std::int8_t label : p.labels) classes.push_back(label > 0 ? 1 : 0);
    const std::size_t d = p.x.n_features;
    std::vector<float> w(2 * d);
    std::ranges::copy(start.w, w.begin() + static_cast<std::ptrdiff_t>(d));
    std::vector<double> bias{0.0, start.bias};
    relax(rows, p.scaling, p.entries(), SoftmaxLink(classes, 2), {.ridge = ridge, .max_steps = 500, .tolerance = 1e-12},
          std::span(w), std::span(bias));
    expect(std::all_of(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(d), [](float v) { return v == 0.0F; }),
           "the first class stays the reference");
    return {{w.begin() + static_cast<std::ptrdiff_t>(d), w.end()}, bias[1] - bias[0]};
}

void relaxing_all_weights_is_logistic_regression() {
    for (std::size_t d : {1U, 5U, 30U}) {
        const LogisticProblem p(300, d, 0.8, true, d);
        const Solution wanted = newton(p, p.x.dense(), exact(0.0, 2.0));
        const Solution start{std::vector<float>(d, 0.1F)};
        const Solution dense = relaxed(p, p.x.dense(), start, 2.0);
        const Solution sparse = relaxed(p, p.x.sparse(), start, 2.0);
        const double least = objective(p, exact(0.0, 2.0), wanted);
        expect_near(objective(p, exact(0.0, 2.0), dense), least, 1e-5 * least, "objective");
        expect_equal(dense.w, sparse.w, "weights of dense and sparse rows");
        expect_equal(dense.bias, sparse.bias, "bias of dense and sparse rows");
    }
}

void relaxing_keeps_zeros_and_never_rises() {
    const LogisticProblem p(200, 12, 0.5, true);
    const Solution start = newton(p, p.x.dense(), exact(20.0, 0.0));
    const Solution found = relaxed(p, p.x.dense(), start, 0.1);
    expect(std::ranges::count(start.w, 0.0F) > 0, "the penalty left columns out");
    for (std::size_t j = 0; j < 12; ++j) expect_equal(start.w[j] == 0.0F, found.w[j] == 0.0F, "the same columns");
    expect(objective(p, exact(0.0, 0.1), found) < objective(p, exact(0.0, 0.1), start), "the objective falls");
}

/// Within one problem, at the first question and at later ones.
void interrupts_end_a_solver_at_work() {
    const LogisticProblem p(3000, 8, 0.7, true);
    const ReducedProblem reduced{p.rows, p.labels, p.weights};
    const Solution start = newton(p, p.x.dense(), exact(1.0, 0.1));
    const std::vector<std::function<void()>> calls{
        [&] { (void)newton(p, p.x.dense(), exact(1.0, 0.1)); },   [&] { (void)stream(p, p.x.dense(), exact(1.0, 0.1)); },
        [&] { (void)stream(p, p.x.sparse(), exact(1.0, 0.1)); },  [&] { (void)relaxed(p, p.x.dense(), start, 0.1); },
        [&] { (void)solve_axis(p.x.dense(), reduced, 0.0); },     [&] { (void)solve_axis(p.x.sparse(), reduced, 0.0); },
        [&] { (void)column_moments(p.x.dense(), p.weights, 2); }, [&] { (void)squared_norms(p.x.sparse(), p.scaling, 1); }};
    for (std::size_t i = 0; i < calls.size(); ++i)
        for (const int patience : {0, 1, 2}) {
            int n_looks = 0;
            const Interruptible scope([&] { return n_looks++ >= patience; });
            expect_throw<Interrupted>(calls[i], "call " + std::to_string(i));
        }
}

}  // namespace

std::vector<Test> solver_tests() {
    return {{"Newton meets the optimality conditions", newton_meets_the_optimality_conditions},
            {"Newton is the same for dense and sparse rows", newton_is_the_same_for_dense_and_sparse_rows},
            {"Newton never ends above its start", newton_never_ends_above_its_start},
            {"unchecked steps hardly ever rise", unchecked_steps_hardly_ever_rise},
            {"steps from afar stay finite", steps_from_afar_stay_finite},
            {"nearly singular models are solved", nearly_singular_models_are_solved},
            {"Newton sums block by block", newton_sums_block_by_block},
            {"Newton has the same bits at all levels", newton_has_the_same_bits_at_all_levels},
            {"a constant column gets no weight", constant_column_gets_no_weight},
            {"a large alpha gives zero weights", large_alpha_gives_zero_weights},
            {"padding changes no solution", padding_changes_no_solution},
            {"streaming comes near Newton", streaming_comes_near_newton},
            {"lazy streaming equals eager streaming", lazy_streaming_equals_eager_streaming},
            {"lazy softmax equals eager softmax", lazy_softmax_equals_eager_softmax},
            {"streaming does not depend on the threads", streaming_does_not_depend_on_the_threads},
            {"relaxing all weights is logistic regression", relaxing_all_weights_is_logistic_regression},
            {"relaxing keeps zeros and never rises", relaxing_keeps_zeros_and_never_rises},
            {"the axis solver equals brute force", axis_solver_equals_brute_force},
            {"an axis threshold survives rounding", axis_threshold_survives_rounding},
            {"moments are those of the columns", moments_are_those_of_the_columns},
            {"standard space keeps scores", standard_space_keeps_scores},
            {"interrupts end a solver at work", interrupts_end_a_solver_at_work},
            {"the largest weights are kept", largest_weights_are_kept_as_if_the_others_were_at_their_means}};
}

}  // namespace spinney::test
