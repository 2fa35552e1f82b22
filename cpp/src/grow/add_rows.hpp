#pragma once
/// Steps of weights along rows, in scaled space.

#include <cstddef>
#include <cstdint>
#include <span>

#include "spinney/design.hpp"

namespace spinney {

/// w += metric * sum_k slopes_k (row_k - mean): what a step along scaled rows does to raw weights. Sparse rows are not centred.
template <Design D>
void add_rows(const D& rows, std::span<const std::uint32_t> numbers, std::span<const float> slopes, std::span<const float> mean,
              std::span<const float> metric, std::span<float> w) {
    if constexpr (is_sparse<D>) {
        for (std::size_t k = 0; k < numbers.size(); ++k)
            rows.for_each(numbers[k], [&](std::size_t j, float x) { w[j] += slopes[k] * x * metric[j]; });
    } else {
        const StreamVectors vectors{nullptr, w.data(), mean.data(), metric.data(), nullptr, w.size()};
        for (std::size_t k = 0; k < numbers.size();) {
            const std::size_t count = numbers.size() - k >= 4 ? 4 : 1;
            const typename D::Value* x[4] = {};
            float slope[4] = {};
            for (std::size_t r = 0; r < count; ++r) {
                x[r] = rows.row(numbers[k + r]).data();
                slope[r] = slopes[k + r];
            }
            row_kernels<typename D::Value>().add_gradient(vectors, x, slope, count);
            k += count;
        }
    }
}

}  // namespace spinney
