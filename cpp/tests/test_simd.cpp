#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "check.hpp"
#include "data.hpp"
#include "spinney/tree.hpp"

namespace spinney::test {
namespace {

std::vector<float> random_vector(std::size_t size, std::uint64_t seed) {
    Random random(seed, 5);
    std::vector<float> out(size);
    for (float& value : out) value = static_cast<float>(random.normal());
    return out;
}

/// Around every length at which a kernel changes its path.
std::vector<std::size_t> lengths() {
    std::vector<std::size_t> out(140);
    std::iota(out.begin(), out.end(), std::size_t{0});
    out.push_back(784);
    out.push_back(1000);
    return out;
}

void sparse_dot_has_the_bits_of_the_dense_dot() {
    for (std::size_t d : lengths()) {
        const Matrix x = random_matrix(4, d, 0.4, d);
        const auto w = random_vector(d, d + 1);
        for (std::size_t n = 0; n < 4; ++n)
            expect_equal(std::bit_cast<std::uint64_t>(x.dense().dot(n, w.data())),
                         std::bit_cast<std::uint64_t>(x.sparse().dot(n, w.data())), "dense and sparse agree");
    }
}

void byte_rows_have_the_bits_of_float_rows() {
    for (std::size_t d : lengths()) {
        if (d == 0) continue;
        Random random(d, 7);
        std::vector<std::uint8_t> bytes(30 * d);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        const Matrix x(std::vector<float>(bytes.begin(), bytes.end()), 30, d);
        const ByteRows rows{bytes.data(), 30, d};
        const auto w = random_vector(d, d + 1);
        for (std::size_t n = 0; n < 30; ++n)
            expect_equal(std::bit_cast<std::uint64_t>(rows.dot(n, w.data())),
                         std::bit_cast<std::uint64_t>(x.dense().dot(n, w.data())), "dot product");
    }
}

void dot_is_close_to_double() {
    for (std::size_t d : lengths()) {
        const auto x = random_vector(d, d);
        const auto w = random_vector(d, d + 1);
        double sum = 0.0;
        double size = 0.0;
        for (std::size_t j = 0; j < d; ++j) {
            const double product = static_cast<double>(x[j]) * static_cast<double>(w[j]);
            sum += product;
            size += std::fabs(product);
        }
        expect_near(dot(x, w.data()), sum, 1e-6 * size, "dot product");
    }
}

/// Splits of a complete tree with random hyperplanes; leaves by rank.
struct RandomSplits {
    std::vector<float> w;
    std::vector<double> bias;
    std::vector<std::int32_t> child;

    RandomSplits(std::size_t depth, std::size_t d, std::uint64_t seed) {
        const std::size_t n_splits = (std::size_t{1} << depth) - 1;
        w = random_vector(n_splits * d, seed);
        Random random(seed, 6);
        for (std::size_t i = 0; i < n_splits; ++i) {
            bias.push_back(random.normal());
            for (std::size_t next : {2 * i + 1, 2 * i + 2})
                child.push_back(next < n_splits ? static_cast<std::int32_t>(next) : ~static_cast<std::int32_t>(next - n_splits));
        }
    }
    [[nodiscard]] SplitArrays view() const { return {w.data(), bias.data(), child.data()}; }
};

std::int32_t plain_walk(const Matrix& x, std::size_t n, const RandomSplits& splits, std::int32_t at) {
    while (at >= 0) {
        const auto split = static_cast<std::size_t>(at);
        const double score = x.dense().dot(n, splits.w.data() + split * x.n_features) + splits.bias[split];
        at = splits.child[2 * split + (score >= 0.0 ? 1U : 0U)];
    }
    return at;
}

template <Design D>
void expect_walks(const Matrix& x, const D& rows, const RandomSplits& splits, std::size_t count) {
    std::array<std::size_t, most_walk_rows> numbers{};
    std::array<std::int32_t, most_walk_rows> at{};
    for (std::size_t r = 0; r < count; ++r) {
        numbers[r] = (7 * r) % x.n_rows;
        at[r] = r == 1 ? ~5 : static_cast<std::int32_t>(r % 3);  // from the root, from a leaf, from a split
    }
    auto wanted = at;
    for (std::size_t r = 0; r < count; ++r) wanted[r] = plain_walk(x, numbers[r], splits, at[r]);
    walk_batch(rows, std::span<const std::size_t>(numbers.data(), count), splits.view(), {at.data(), count});
    expect_equal(at, wanted, "walk reaches the leaf of the plain loop");
}

void walk_equals_the_plain_loop() {
    for (std::size_t d : lengths()) {
        if (d == 0) continue;
        const Matrix x = random_matrix(30, d, 0.6, d);
        const RandomSplits splits(4, d, d);
        for (std::size_t count = 1; count <= most_walk_rows; ++count) {
            expect_walks(x, x.dense(), splits, count);
            expect_walks(x, x.sparse(), splits, count);
        }
        Random random(d, 8);
        std::vector<std::uint8_t> bytes(30 * d);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(4));
        const Matrix whole(std::vector<float>(bytes.begin(), bytes.end()), 30, d);
        for (std::size_t count = 1; count <= most_walk_rows; ++count)
            expect_walks(whole, ByteRows{bytes.data(), 30, d}, splits, count);
    }
}

void logistic_equals_libm() {
    std::vector<double> t{0.0, -0.0, 1e-300, -1e-300, 800.0, -800.0, 36.0, -36.0};
    for (int i = -4000; i <= 4000; ++i) t.push_back(0.01 * i);
    std::vector<double> p(t.size()), loss(t.size());
    kernels().logistic(t, p.data(), loss.data());
    for (std::size_t i = 0; i < t.size(); ++i) {
        const double wanted = t[i] > 0.0 ? std::log1p(std::exp(-t[i])) : std::log1p(std::exp(t[i])) - t[i];
        expect_near(p[i], 1.0 / (1.0 + std::exp(-t[i])), 1e-12, "probability");
        expect_near(loss[i], wanted, 1e-12 * std::max(1.0, wanted), "loss");
    }
}

void step_of_four_rows_uses_the_mean_of_their_gradients() {
    for (std::size_t d : {1U, 7U, 32U, 45U, 100U}) {
        const Matrix x = random_matrix(4, d, 1.0, d);
        const auto mean = random_vector(d, 1), start = random_vector(d, 2), gradient = random_vector(d, 3);
        const std::vector<float> metric(d, 0.5F), threshold(d, 0.01F);
        const std::array<float, 4> change{0.3F, -0.2F, 0.1F, 0.4F};
        std::array<const float*, 4> rows{};
        for (std::size_t k = 0; k < 4; ++k) rows[k] = x.dense().row(k).data();
        for (std::size_t count : {1U, 4U}) {
            auto w = start, g = gradient;
            const StreamVectors v{w.data(), g.data(), mean.data(), metric.data(), threshold.data(), d, 0.9F};
            const double centre = kernels().floats.stream_step(v, rows.data(), change.data(), count, 0.1F, 0.01F);
            const double keep = std::pow(0.9, static_cast<double>(count));
            double wanted_centre = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                double fresh = 0.0;
                for (std::size_t k = 0; k < count; ++k)
                    fresh += 0.5 * static_cast<double>(change[k]) * static_cast<double>(rows[k][j] - mean[j]);
                const auto n = static_cast<double>(count);
                const double moved =
                    keep * (static_cast<double>(start[j]) - 0.1 * (fresh + n * static_cast<double>(gradient[j])));
                const double wanted = std::copysign(std::max(std::fabs(moved) - 0.01 * n, 0.0), moved);
                expect_near(w[j], wanted, 1e-5, "weight after a step");
                expect_near(g[j], static_cast<double>(gradient[j]) + 0.01 * fresh, 1e-5, "mean gradient");
                wanted_centre += wanted * static_cast<double>(mean[j]);
            }
            expect_near(centre, wanted_centre, 1e-4, "w . mean");
        }
    }
}

void block_kernels_equal_plain_sums() {
    for (std::size_t stride : {8U, 16U, 24U, 40U, 96U})
        for (std::size_t n_rows : {std::size_t{1}, std::size_t{3}, block_rows}) {
            Random random(stride, n_rows);
            std::vector<double> z(block_rows * stride), h(block_rows), w(stride), hessian(stride * stride, 0.5);
            for (auto* all : {&z, &h, &w})
                for (double& value : *all) value = random.normal();
            std::vector<double> scores(n_rows), gradient(stride, 0.25), weighted(block_rows * stride), column(stride, 0.25);
            kernels().block_scores(z.data(), n_rows, stride, w.data(), 0.75, scores.data());
            kernels().add_block_gradient(z.data(), n_rows, stride, h.data(), gradient.data());
            kernels().weigh_block(z.data(), n_rows, stride, h.data(), weighted.data(), column.data());
            kernels().add_hessian(z.data(), weighted.data(), n_rows, stride, hessian.data());
            for (std::size_t r = 0; r < n_rows; ++r) {
                const double* row = z.data() + r * stride;
                expect_near(scores[r], std::inner_product(row, row + stride, w.begin(), 0.75), 1e-12, "score");
            }
            for (std::size_t i = 0; i < stride; ++i) {
                double slope = 0.25;
                for (std::size_t r = 0; r < n_rows; ++r) slope += h[r] * z[r * stride + i];
                expect_near(gradient[i], slope, 1e-12, "gradient");
                expect_near(column[i], slope, 1e-12, "sum of the weighted rows");
                for (std::size_t j = i; j < stride; ++j) {
                    double sum = 0.5;
                    for (std::size_t r = 0; r < n_rows; ++r) sum += h[r] * z[r * stride + i] * z[r * stride + j];
                    expect_near(hessian[i * stride + j], sum, 1e-11, "upper triangle of the Hessian");
                }
            }
        }
}

/// The bits of all that the kernels of rows give for four rows of one kind, padded to `width`; those of the padding are left out.
template <class T>
std::vector<std::uint32_t> bits_of_row_kernels(std::span<const T> plain, std::size_t d, std::size_t width) {
    const auto wide = [&](const std::vector<float>& x) { return widened(std::span<const float>(x), d, width); };
    const auto values = widened(plain, d, width);
    const auto w = wide(random_vector(d, 1)), mean = wide(random_vector(d, 2)), gradient = wide(random_vector(d, 3));
    const auto metric = wide(std::vector<float>(d, 0.5F)), threshold = wide(std::vector<float>(d, 0.01F));
    const std::array<float, 4> change{0.3F, -0.2F, 0.1F, 0.4F};
    const DenseRowsOf<T> design{values.data(), 4, d, width};
    const std::array<const T*, 4> rows{design.begin(0), design.begin(1), design.begin(2), design.begin(3)};
    std::vector<std::uint32_t> bits;
    const auto keep = [&](const auto& numbers) {
        for (const auto number : numbers) bits.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    };
    const auto keep_columns = [&](std::span<const float> all) {
        keep(all.first(d));
        expect(std::ranges::all_of(all.subspan(d), [](float x) { return std::bit_cast<std::uint32_t>(x) == 0; }),
               "the padding stays zero");
    };
    for (std::size_t n = 0; n < 4; ++n) keep(std::array{design.dot(n, w.data())});
    for (std::size_t count : {1U, 4U}) {
        auto moved = w, sum = gradient;
        const StreamVectors v{moved.data(), sum.data(), mean.data(), metric.data(), threshold.data(), width, 0.9F};
        keep(std::array{row_kernels<T>().stream_step(v, rows.data(), change.data(), count, 0.1F, 0.01F)});
        row_kernels<T>().add_gradient(v, rows.data(), change.data(), count);
        keep_columns(moved);
        keep_columns(sum);
    }
    const RandomSplits splits(3, d, d);
    const auto hyperplanes = wide(splits.w);
    std::array<std::int32_t, 4> at{};
    row_kernels<T>().walk(std::span<const T* const>(rows), width, {hyperplanes.data(), splits.bias.data(), splits.child.data()},
                          at);
    keep(at);
    return bits;
}

void padding_changes_no_bit() {
    for (std::size_t d : lengths()) {
        if (d == 0) continue;
        Random random(d, 10);
        std::vector<std::uint8_t> bytes(4 * d);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        const auto floats = random_vector(4 * d, d);
        expect_equal(bits_of_row_kernels(std::span<const float>(floats), d, padded_size(d)),
                     bits_of_row_kernels(std::span<const float>(floats), d, d), "floats");
        expect_equal(bits_of_row_kernels(std::span<const std::uint8_t>(bytes), d, padded_size(d)),
                     bits_of_row_kernels(std::span<const std::uint8_t>(bytes), d, d), "bytes");
    }
}

void levels_have_the_same_bits() {
    const std::string_view best = simd_level();
    for (std::size_t d : lengths()) {
        if (d == 0) continue;
        const std::size_t width = d % 2 == 0 ? d : padded_size(d);
        Random random(d, 9);
        std::vector<std::uint8_t> bytes(4 * d);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        const auto floats = random_vector(4 * d, d);
        use_simd_level("baseline");
        const auto wanted_bytes = bits_of_row_kernels(std::span<const std::uint8_t>(bytes), d, width);
        const auto wanted_floats = bits_of_row_kernels(std::span<const float>(floats), d, width);
        for (std::string_view level : simd_levels()) {
            use_simd_level(level);
            expect_equal(simd_level() == level, true, "level in use");
            expect_equal(bits_of_row_kernels(std::span<const std::uint8_t>(bytes), d, width), wanted_bytes, "bytes");
            expect_equal(bits_of_row_kernels(std::span<const float>(floats), d, width), wanted_floats, "floats");
        }
        use_simd_level(best);
    }
    use_simd_level("no such level");
    expect_equal(simd_level() == best, true, "unknown levels change nothing");
}

}  // namespace

std::vector<Test> simd_tests() {
    return {{"the sparse dot has the bits of the dense dot", sparse_dot_has_the_bits_of_the_dense_dot},
            {"byte rows have the bits of float rows", byte_rows_have_the_bits_of_float_rows},
            {"dot is close to double", dot_is_close_to_double},
            {"walk equals the plain loop", walk_equals_the_plain_loop},
            {"logistic equals libm", logistic_equals_libm},
            {"a streaming step is the step of its rows", step_of_four_rows_uses_the_mean_of_their_gradients},
            {"block kernels equal plain sums", block_kernels_equal_plain_sums},
            {"padding changes no bit", padding_changes_no_bit},
            {"levels of vector instructions have the same bits", levels_have_the_same_bits}};
}

}  // namespace spinney::test
