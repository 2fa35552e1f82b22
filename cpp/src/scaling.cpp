#include "spinney/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spinney/parallel.hpp"

namespace spinney {
namespace {

constexpr std::size_t moment_block = 4096;

std::size_t count_blocks(std::size_t n_rows) { return (n_rows + moment_block - 1) / moment_block; }

/// Sums of one block of rows. `count` holds the weight of the stored entries, so that the zeros a
/// sparse matrix leaves out can be added at the end.
struct BlockSums {
    std::vector<double> sum, count;
    std::vector<float> low, high;
    std::vector<std::size_t> stored;

    explicit BlockSums(std::size_t d)
        : sum(d), count(d), low(d, std::numeric_limits<float>::infinity()), high(d, -std::numeric_limits<float>::infinity()),
          stored(d) {}
};

template <Design D, class Add>
std::vector<BlockSums> sum_blocks(const D& rows, std::size_t n_threads, const Add& add) {
    std::vector<BlockSums> blocks(count_blocks(rows.n_rows), BlockSums(rows.n_features));
    parallel_for(blocks.size(), n_threads, [&](std::size_t b) {
        const std::size_t end = std::min(rows.n_rows, (b + 1) * moment_block);
        for (std::size_t n = b * moment_block; n < end; ++n) {
            check_stop_at(n);
            add(blocks[b], n);
        }
    });
    return blocks;
}

}  // namespace

template <Design D>
Moments column_moments(const D& rows, std::span<const double> weights, std::size_t n_threads) {
    const std::size_t d = rows.n_features;
    double total = 0.0;
    std::size_t n_rows = 0;  // rows of weight 0 are as good as not there
    for (double w : weights) {
        total += w;
        n_rows += w > 0.0 ? 1 : 0;
    }
    Moments out{std::vector<double>(d), std::vector<double>(d), std::vector<float>(d, std::numeric_limits<float>::infinity()),
                std::vector<float>(d, -std::numeric_limits<float>::infinity())};

    const auto first = sum_blocks(rows, n_threads, [&](BlockSums& s, std::size_t n) {
        if (weights[n] == 0.0) return;
        rows.for_each(n, [&](std::size_t j, float x) {
            s.sum[j] += weights[n] * static_cast<double>(x);
            s.low[j] = std::min(s.low[j], x);
            s.high[j] = std::max(s.high[j], x);
            ++s.stored[j];
        });
    });
    std::vector<std::size_t> stored(d);
    for (const auto& block : first)
        for (std::size_t j = 0; j < d; ++j) {
            out.mean[j] += block.sum[j] / total;
            out.low[j] = std::min(out.low[j], block.low[j]);
            out.high[j] = std::max(out.high[j], block.high[j]);
            stored[j] += block.stored[j];
        }
    for (std::size_t j = 0; j < d; ++j)
        if (stored[j] < n_rows) {
            out.low[j] = std::min(out.low[j], 0.0F);
            out.high[j] = std::max(out.high[j], 0.0F);
        }

    // Second pass about the mean: the one-pass formula cancels when mean and deviation are far apart.
    const auto second = sum_blocks(rows, n_threads, [&](BlockSums& s, std::size_t n) {
        rows.for_each(n, [&](std::size_t j, float x) {
            const double distance = static_cast<double>(x) - out.mean[j];
            s.sum[j] += weights[n] * distance * distance;
            s.count[j] += weights[n];
        });
    });
    std::vector<double> count(d), squares(d);
    for (const auto& block : second)
        for (std::size_t j = 0; j < d; ++j) {
            squares[j] += block.sum[j];
            count[j] += block.count[j];
        }
    for (std::size_t j = 0; j < d; ++j) {
        if (stored[j] < n_rows) squares[j] += std::max(total - count[j], 0.0) * out.mean[j] * out.mean[j];
        out.deviation[j] = out.low[j] < out.high[j] ? std::sqrt(squares[j] / total) : 0.0;
    }
    return out;
}

#define SPINNEY_INSTANTIATE(D)                                                          \
    template Moments column_moments<D>(const D&, std::span<const double>, std::size_t); \
    template std::vector<float> squared_norms<D>(const D&, const Scaling&, std::size_t);
SPINNEY_FOR_EACH_DESIGN(SPINNEY_INSTANTIATE)

Scaling::Scaling(std::vector<double> mean_, std::vector<double> inverse_scale_, std::vector<double> deviation_)
    : mean(std::move(mean_)), inverse_scale(std::move(inverse_scale_)), deviation(std::move(deviation_)) {
    if (deviation.empty())
        for (double inverse : inverse_scale) deviation.push_back(inverse > 0.0 ? 1.0 / inverse : 0.0);
    mean32.resize(padded_size(mean.size()));
    metric32.resize(mean32.size());
    for (std::size_t j = 0; j < mean.size(); ++j) {
        mean32[j] = static_cast<float>(mean[j]);
        metric32[j] = static_cast<float>(inverse_scale[j] * inverse_scale[j]);
    }
}

double Scaling::l1_norm(std::span<const float> w) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < mean.size(); ++j)
        if (inverse_scale[j] > 0.0) sum += std::fabs(static_cast<double>(w[j])) / inverse_scale[j];
    return sum;
}

void Scaling::to_standard(std::span<const float> raw, double raw_bias, std::span<double> w, double& bias) const {
    bias = raw_bias;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        w[j] = inverse_scale[j] > 0.0 ? static_cast<double>(raw[j]) / inverse_scale[j] : 0.0;
        bias += static_cast<double>(raw[j]) * mean[j];
    }
}

void Scaling::to_raw(std::span<const double> w, double bias, std::span<float> raw, double& raw_bias) const {
    raw_bias = bias;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        raw[j] = static_cast<float>(w[j] * inverse_scale[j]);
        raw_bias -= static_cast<double>(raw[j]) * mean[j];
    }
}

void Scaling::keep_largest(std::size_t count, std::span<float> w, double& bias) const {
    std::vector<std::pair<double, std::size_t>> ranked;  // ties go to the lower column
    for (std::size_t j = 0; j < mean.size(); ++j)
        if (w[j] != 0.0F) ranked.emplace_back(-std::fabs(static_cast<double>(w[j])) * deviation[j], j);
    if (ranked.size() <= count) return;
    std::ranges::sort(ranked);
    for (std::size_t i = count; i < ranked.size(); ++i) {
        const std::size_t j = ranked[i].second;
        bias += static_cast<double>(w[j]) * mean[j];
        w[j] = 0.0F;
    }
}

template <Design D>
std::vector<float> squared_norms(const D& rows, const Scaling& scaling, std::size_t n_threads) {
    std::vector<float> norms(rows.n_rows);
    double centre = 0.0;  // squared length of the row of zeros, corrected at the stored entries
    for (std::size_t j = 0; j < rows.n_features; ++j) {
        const double z = scaling.mean[j] * scaling.inverse_scale[j];
        centre += z * z;
    }
    parallel_for(count_blocks(rows.n_rows), n_threads, [&](std::size_t b) {
        const std::size_t end = std::min(rows.n_rows, (b + 1) * moment_block);
        for (std::size_t n = b * moment_block; n < end; ++n) {
            check_stop_at(n);
            double sum = centre;
            rows.for_each(n, [&](std::size_t j, float x) {
                const double m = scaling.mean[j];
                const double s = scaling.inverse_scale[j];
                const double z = (static_cast<double>(x) - m) * s;
                sum += z * z - m * s * m * s;
            });
            norms[n] = static_cast<float>(std::max(sum, 0.0));
        }
    });
    return norms;
}

}  // namespace spinney
