/// The same bits on every processor and system: what is computed from numbers that are known to the last bit is compared
/// with a number that stands for all bits of the answer. No input comes from a function of the C library, so no
/// `Random::normal` here, and nothing is asked that calls one (docs/decisions/0001-same-bits-everywhere.md).
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <sstream>
#include <string>

#include "check.hpp"
#include "data.hpp"
#include "spinney/grow/grower.hpp"
#include "spinney/powers.hpp"
#include "spinney/solve_linear.hpp"
#include "spinney/tao/optimizer.hpp"

namespace spinney::test {
namespace {

/// One number for the bits of many.
class Hash {
  public:
    template <class T>
    void add(T number) {
        if constexpr (std::same_as<T, double>)
            value_ = mix(value_ ^ std::bit_cast<std::uint64_t>(number));
        else if constexpr (std::same_as<T, float>)
            value_ = mix(value_ ^ std::bit_cast<std::uint32_t>(number));
        else
            value_ = mix(value_ ^ static_cast<std::uint64_t>(number));
    }
    template <class T>
    void add_all(const std::vector<T>& numbers) {
        for (const T number : numbers) add(number);
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0;
};

/// Uniform in [-1, 1), or any byte.
template <class T>
std::vector<T> numbers(std::size_t size, std::uint64_t seed) {
    Random random(seed, 21);
    std::vector<T> out(size);
    for (T& number : out) {
        if constexpr (std::same_as<T, std::uint8_t>)
            number = static_cast<T>(random.below(256));
        else
            number = static_cast<T>(2.0 * random.uniform() - 1.0);
    }
    return out;
}

/// Around every length at which a kernel changes its path.
std::vector<std::size_t> lengths() {
    std::vector<std::size_t> out(140);
    std::iota(out.begin(), out.end(), std::size_t{1});
    out.push_back(784);
    return out;
}

// --- kernels ---------------------------------------------------------------------------------------------------------

template <class T>
std::uint64_t dots() {
    Hash hash;
    for (std::size_t d : lengths()) {
        const auto x = numbers<T>(d, d);
        hash.add(row_kernels<T>().dot(x, numbers<float>(d, d + 1).data()));
    }
    return hash.value();
}

/// Products and sums below the least normal number: some processors can be told to take them for zero.
std::uint64_t tiny_dots() {
    Hash hash;
    for (std::size_t d : lengths()) {
        auto x = numbers<float>(d, d), w = numbers<float>(d, d + 1);
        for (float& value : x) value *= 0x1p-70F;
        for (float& value : w) value *= 0x1p-70F;
        hash.add(kernels().floats.dot(x, w.data()));
    }
    return hash.value();
}

std::uint64_t sparse_dots() {
    Hash hash;
    for (std::size_t d : lengths()) {
        std::vector<std::int32_t> columns;
        for (std::size_t j = 0; j < d; ++j)
            if (mix(d + j) % 3 == 0) columns.push_back(static_cast<std::int32_t>(j));
        const auto values = numbers<float>(columns.size(), d);
        hash.add(kernels().sparse_dot(columns, values.data(), numbers<float>(d, d + 1).data()));
    }
    return hash.value();
}

std::uint64_t padded_scores() {
    Hash hash;
    for (std::size_t stride : {8U, 16U, 32U, 48U, 112U}) {
        const auto bias = numbers<double>(7, stride);
        std::vector<double> out(bias.size());
        kernels().padded_scores(numbers<float>(stride, 1).data(), numbers<float>(7 * stride, 2).data(), stride, bias, out.data());
        hash.add_all(out);
    }
    return hash.value();
}

constexpr std::size_t n_splits = 31, n_walkers = 13;

/// Children of a complete tree, leaves by rank.
std::array<std::int32_t, 2> children(std::size_t split) {
    const auto child = [](std::size_t next) {
        return next < n_splits ? static_cast<std::int32_t>(next) : ~static_cast<std::int32_t>(next - n_splits);
    };
    return {child(2 * split + 1), child(2 * split + 2)};
}

template <class T>
std::uint64_t walks() {
    Hash hash;
    for (std::size_t d : lengths()) {
        const auto x = numbers<T>(n_walkers * d, d);
        const auto w = numbers<float>(n_splits * d, d + 1);
        std::vector<const T*> rows;
        for (std::size_t n = 0; n < n_walkers; ++n) rows.push_back(x.data() + n * d);
        std::vector<std::int32_t> child, at(n_walkers);
        for (std::size_t split = 0; split < n_splits; ++split)
            for (std::int32_t next : children(split)) child.push_back(next);
        row_kernels<T>().walk(rows, d, {w.data(), numbers<double>(n_splits, d).data(), child.data()}, at);
        hash.add_all(at);
    }
    return hash.value();
}

/// The walks of packed forests: full, sparse and axis-aligned hyperplanes.
std::uint64_t packed_walks() {
    Hash hash;
    for (std::size_t stride : {8U, 16U, 32U, 48U, 112U}) {
        const auto x = numbers<float>(n_walkers * stride, stride), w = numbers<float>(n_splits * stride, stride + 1);
        const auto bias = numbers<double>(n_splits, stride);
        std::vector<const float*> rows;
        for (std::size_t n = 0; n < n_walkers; ++n) rows.push_back(x.data() + n * stride);
        std::vector<PackedSplit> splits;
        std::vector<PackedAxis> axes;
        std::vector<std::size_t> begin{0};
        std::vector<std::int32_t> columns;
        for (std::size_t split = 0; split < n_splits; ++split) {
            const auto [left, right] = children(split);
            splits.push_back({bias[split], {left, right}});
            axes.push_back({bias[split], {left, right}, static_cast<std::int32_t>(split % stride), w[split]});
            for (std::size_t j = split % 3; j < stride; j += 3) columns.push_back(static_cast<std::int32_t>(j));
            begin.push_back(columns.size());
        }
        const auto walked = [&](const auto& walk, const auto& forest) {
            std::vector<std::int32_t> at(n_walkers);
            walk(rows, forest, at);
            hash.add_all(at);
        };
        walked(kernels().walk_padded, PaddedSplits{w.data(), splits.data(), stride});
        walked(kernels().walk_sparse, SparseSplits{splits.data(), begin.data(), columns.data(), w.data()});
        walked(kernels().walk_axis, std::span<const PackedAxis>(axes));
    }
    return hash.value();
}

template <class T>
std::uint64_t stream_steps() {
    Hash hash;
    for (std::size_t d : lengths()) {
        const auto x = numbers<T>(4 * d, d);
        const auto mean = numbers<float>(d, 1), metric = numbers<float>(d, 2);
        const std::array<const T*, 4> rows{x.data(), x.data() + d, x.data() + 2 * d, x.data() + 3 * d};
        const std::vector<float> threshold(d, 0.01F), change{0.3F, -0.2F, 0.1F, 0.4F};
        for (std::size_t count : {1U, 4U}) {
            auto w = numbers<float>(d, 3), gradient = numbers<float>(d, 4);
            const StreamVectors v{w.data(), gradient.data(), mean.data(), metric.data(), threshold.data(), d, 0.9F};
            hash.add(row_kernels<T>().stream_step(v, rows.data(), change.data(), count, 0.1F, 0.01F));
            row_kernels<T>().add_gradient(v, rows.data(), change.data(), count);
            hash.add_all(w);
            hash.add_all(gradient);
        }
    }
    return hash.value();
}

template <class T>
std::uint64_t standard_rows() {
    Hash hash;
    for (std::size_t d : lengths()) {
        std::vector<double> z(d);
        row_kernels<T>().standardise(numbers<T>(d, d), numbers<double>(d, 1).data(), numbers<double>(d, 2).data(), z.data());
        hash.add_all(z);
    }
    return hash.value();
}

/// From where exp is 0 to where it is 1, and the least numbers.
std::vector<double> scores_of_all_sizes() {
    std::vector<double> t{0.0, -0.0, 0x1p-1074, -0x1p-1074, 1e-300, -1e-300, 36.0, -36.0, 800.0, -800.0, 1e200, -1e200};
    for (int i = -4000; i <= 4000; ++i) t.push_back(0.01 * i);
    return t;
}

std::uint64_t logistics() {
    Hash hash;
    auto t = scores_of_all_sizes();
    std::vector<double> p(t.size()), loss(t.size());
    kernels().logistic(t, p.data(), loss.data());
    kernels().sigmoid(t);
    hash.add_all(p);
    hash.add_all(loss);
    hash.add_all(t);
    return hash.value();
}

std::uint64_t softmaxes() {
    Hash hash;
    for (std::size_t n_classes = 1; n_classes <= 30; ++n_classes) {
        auto scores = numbers<double>(n_classes, n_classes);
        for (std::size_t k = 0; k < n_classes; ++k) scores[k] *= static_cast<double>(k);
        scores[n_classes / 2] = -1e200;
        kernels().softmax(scores);
        hash.add_all(scores);
    }
    return hash.value();
}

std::uint64_t blocks() {
    Hash hash;
    for (std::size_t stride : {8U, 16U, 24U, 40U, 96U})
        for (std::size_t n_rows : {std::size_t{1}, std::size_t{3}, block_rows}) {
            const auto z = numbers<double>(n_rows * stride, stride), h = numbers<double>(n_rows, n_rows);
            const auto w = numbers<double>(stride, 3);
            std::vector<double> scores(n_rows), gradient(stride, 0.25), hessian(stride * stride, 0.5);
            std::vector<double> weighted(n_rows * stride), sum(stride, 0.125);
            kernels().block_scores(z.data(), n_rows, stride, w.data(), 0.75, scores.data());
            kernels().add_block_gradient(z.data(), n_rows, stride, h.data(), gradient.data());
            kernels().weigh_block(z.data(), n_rows, stride, h.data(), weighted.data(), sum.data());
            kernels().add_hessian(z.data(), weighted.data(), n_rows, stride, hessian.data());
            for (std::size_t i = 0; i < stride; ++i)
                std::fill_n(hessian.begin() + static_cast<std::ptrdiff_t>(i * stride), i, 0.0);
            for (const auto& all : {scores, gradient, weighted, sum, hessian}) hash.add_all(all);
        }
    return hash.value();
}

std::uint64_t shares_of_votes() {
    Hash hash;
    for (double x : scores_of_all_sizes())
        if (x > 1e-300) hash.add(log_positive(x));
    for (std::size_t n_classes = 1; n_classes <= 30; ++n_classes) {
        auto votes = numbers<double>(n_classes, n_classes);
        power_shares(votes, 1.5, 1.7);
        hash.add_all(votes);
    }
    return hash.value();
}

// --- fits that call nothing of the C library -------------------------------------------------------------------------

/// Rows, three classes, numbers and weights.
struct Task {
    Matrix x;
    std::vector<std::int32_t> classes;
    std::vector<std::int8_t> labels;
    std::vector<double> values, weights;
    Scaling scaling;
    std::vector<float> norms;

    Task(std::size_t n, std::size_t d)
        : x(numbers<float>(n * d, d), n, d), values(numbers<double>(n, d)), weights(random_weights(n, d)),
          scaling(scaling_of(x, weights, true)), norms(squared_norms(x.dense(), scaling, 1)) {
        for (std::size_t i = 0; i < n; ++i) {
            values[i] += static_cast<double>(x.values[i * d] - x.values[i * d + 1]);
            classes.push_back(values[i] < -0.5 ? 0 : (values[i] < 0.5 ? 1 : 2));
            labels.push_back(values[i] < 0.0 ? -1 : 1);
        }
    }
    [[nodiscard]] Targets targets(bool has_classes) const {
        if (has_classes) return {classes, {}, weights, 3};
        return {{}, values, weights, 1};
    }
};

std::uint64_t hyperplanes() {
    Hash hash;
    for (std::size_t d : {3U, 16U, 45U}) {
        const Task task(400, d);
        const auto rows = all_rows(400);
        LinearOptions options;
        options.alpha = 0.5;
        options.max_newton = 5;
        options.epochs = 3;
        std::vector<float> newton(d), stream(d);
        double newton_bias = 0.0, stream_bias = 0.0;
        const LogisticLink link(task.labels);
        const WeightedRows entries{rows, task.weights};
        solve_newton(task.x.dense(), task.scaling, entries, link, options, std::span(newton), newton_bias);
        solve_stream(task.x.dense(), task.scaling, task.norms, entries, link, options, Random(3), std::span(stream),
                     std::span(&stream_bias, 1));
        hash.add_all(newton);
        hash.add(newton_bias);
        hash.add_all(stream);
        hash.add(stream_bias);
    }
    return hash.value();
}

template <class D>
void add_grown(Hash& hash, const Task& task, const D& rows, const SplitRule<D>& rule) {
    for (bool has_classes : {false, true}) {
        const GrownTree tree = grow_tree(rows, task.scaling, task.targets(has_classes), rule,
                                         {.impurity = Impurity::gini, .max_depth = 6, .n_candidates = 3, .seed = 7});
        hash.add_all(tree.left);
        hash.add_all(tree.bias);
        hash.add_all(tree.indices);
        hash.add_all(tree.weights);
        hash.add_all(tree.leaf_values);
    }
}

std::uint64_t grown_trees() {
    Hash hash;
    const Task task(400, 9);
    const DenseRows rows = task.x.dense();
    add_grown(hash, task, rows, *axis_rule<DenseRows>());
    add_grown(hash, task, rows, *projections_rule<DenseRows>(3));
    add_grown(hash, task, rows, *linear_rule<DenseRows>(LinearModel::ridge, 0.01));
    add_grown(hash, task, task.x.sparse(), *axis_rule<SparseRows>());
    return hash.value();
}

/// A few sweeps of Tree Alternating Optimization from given splits.
void add_optimized(Hash& hash, const Task& task, bool has_classes, SplitKind split) {
    const DenseRows rows = task.x.dense();
    const Topology topology{std::vector<std::int32_t>{1, 3, 5, -1, -1, -1, -1},
                            std::vector<std::int32_t>{2, 4, 6, -1, -1, -1, -1}};
    const Targets targets = task.targets(has_classes);
    auto leaves = has_classes ? constant_class_leaves(targets, 4, ClassLoss::zero_one)
                              : constant_value_leaves(targets, 4, TargetLoss::squared, 1.0);
    OptimizerOptions options;
    options.split = split;
    options.solver.alpha = 0.2;
    const TrainingTable table(rows);
    TreeOptimizer<DenseRows> tree(table, task.scaling, targets, topology, std::move(leaves), options);
    tree.set_splits({numbers<float>(3 * rows.width(), 5), numbers<double>(3, 6)}, {});
    for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
        for (std::size_t depth = 0; depth < 2; ++depth) tree.solve_level(depth, sweep, false, depth == 0);
        tree.fit_leaves(sweep, false);
    }
    hash.add_all(tree.state().splits.weights);
    hash.add_all(tree.state().splits.bias);
    hash.add_all(tree.state().leaves.values);
    const auto leaf_of = tree.leaf_of();
    hash.add_all(std::vector<std::uint32_t>(leaf_of.begin(), leaf_of.end()));
    hash.add(tree.objective().loss);
    hash.add(tree.objective().penalty);
}

std::uint64_t optimized_trees() {
    Hash hash;
    for (std::size_t d : {9U, 70U}) {  // Newton's hyperplanes, and streamed ones
        const Task task(400, d);
        for (bool has_classes : {false, true})
            for (SplitKind split : {SplitKind::oblique, SplitKind::axis}) add_optimized(hash, task, has_classes, split);
    }
    return hash.value();
}

// --- the numbers -----------------------------------------------------------------------------------------------------

struct Known {
    std::string_view name;
    std::uint64_t (*found)();
    std::uint64_t wanted;
};

/// Wanted numbers are those that g++ gave on x86-64; a change here is a change of all models.
constexpr std::array all_known{
    Known{"dot of floats", dots<float>, 0x94C6AE3F53E2AA2C},
    Known{"dot of bytes", dots<std::uint8_t>, 0xC14D27B4D7D20D5C},
    Known{"dot of tiny numbers", tiny_dots, 0x5AC84305AF8EA12E},
    Known{"dot of sparse rows", sparse_dots, 0x1CC987E7D3054764},
    Known{"padded scores", padded_scores, 0xA5BAB28EB68DFAF4},
    Known{"walk of floats", walks<float>, 0x5F029DC8399E01C1},
    Known{"walk of bytes", walks<std::uint8_t>, 0xA9984EA1820D707F},
    Known{"walks of packed forests", packed_walks, 0x13FAA2B362AEA718},
    Known{"streaming steps of floats", stream_steps<float>, 0xC36E7626F7F40A7B},
    Known{"streaming steps of bytes", stream_steps<std::uint8_t>, 0xB286016344B4D5F1},
    Known{"standardised floats", standard_rows<float>, 0xB1621BE6E725965C},
    Known{"standardised bytes", standard_rows<std::uint8_t>, 0x5BB1F3F985EA0B76},
    Known{"logistic and sigmoid", logistics, 0x7483F707F63E8C0B},
    Known{"softmax", softmaxes, 0xE0F9207AAE3C01E3},
    Known{"blocks", blocks, 0x85E7E1AB3116C5DA},
    Known{"shares of votes", shares_of_votes, 0xFD44064AA1B68301},
    Known{"hyperplanes", hyperplanes, 0x0A9C026CEBE675C1},
    Known{"grown trees", grown_trees, 0x3AD5E486D0054D0F},
    Known{"optimised trees", optimized_trees, 0x93D0DC73AE364C11},
};

/// Names and found numbers of those that are others, as they would be written above.
std::string others() {
    std::ostringstream text;
    text << std::hex;
    for (const Known& known : all_known)
        if (const std::uint64_t found = known.found(); found != known.wanted) text << "\n    " << known.name << ": 0x" << found;
    return text.str();
}

void bits_are_the_known_ones() {
    const std::string_view best = simd_level();
    for (std::string_view level : simd_levels()) {
        use_simd_level(level);
        const std::string found = others();
        expect(found.empty(), "other bits at level " + std::string(level) + found);
    }
    use_simd_level(best);
}

}  // namespace

std::vector<Test> same_bits_tests() { return {{"the bits are those of every processor and system", bits_are_the_known_ones}}; }

}  // namespace spinney::test
