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
        using T = D::Value;
        const StreamVectors vectors{nullptr, w.data(), mean.data(), metric.data(), nullptr, w.size()};
        std::size_t k = 0;
        for (; k + 4 <= numbers.size(); k += 4) {
            const T* const x[4] = {rows.begin(numbers[k]), rows.begin(numbers[k + 1]), rows.begin(numbers[k + 2]),
                                   rows.begin(numbers[k + 3])};
            row_kernels<T>().add_gradient(vectors, x, slopes.data() + k, 4);
        }
        for (; k < numbers.size(); ++k) {
            const T* const x[4] = {rows.begin(numbers[k])};
            const float slope[4] = {slopes[k]};
            row_kernels<T>().add_gradient(vectors, x, slope, 1);
        }
    }
}

}  // namespace spinney
