#pragma once
/// Steps of the streaming solver.

#include <array>

#include "simd/dot.hpp"
#include "spinney/simd.hpp"

namespace spinney::simd {
namespace {

/// Reads and writes consecutive entries of a row, as many as a vector has lanes.
struct Whole {
    template <class T>
    [[gnu::always_inline]] static Wide read(const T* from) {
        return load_row<Wide>(from);
    }
    [[gnu::always_inline]] static void write(float* to, Wide v) { store(to, v); }
};
/// The same for the last entries of a row, fewer than a vector has lanes; what is missing reads as zero.
struct Part {
    std::size_t count;
    template <class T>
    [[gnu::always_inline]] Wide read(const T* from) const {
        return load_part<Wide>(from, count);
    }
    [[gnu::always_inline]] void write(float* to, Wide v) const {
        for (std::size_t i = 0; i < count; ++i) to[i] = v[i];
    }
};

/// Vectors of sixteen lanes, whatever a register holds: what is summed over them is the same at every level.
constexpr std::size_t n_parts = 16 / wide_lanes;
using Sixteen = std::array<Wide, n_parts>;

/// visit(access, j, part) for each vector of a row: `access` reads and writes at an offset of j.
template <class Visit>
[[gnu::always_inline]] inline void for_vectors(std::size_t size, const Visit& visit) {
    std::size_t j = 0;
    for (; j + 16 <= size; j += 16) {
        visit(Whole{}, j, 0);
        if constexpr (n_parts == 2) visit(Whole{}, j + wide_lanes, 1);
    }
    const auto visit_rest = [&](std::size_t at, std::size_t part) __attribute__((always_inline)) {
        if (at + wide_lanes <= size)
            visit(Whole{}, at, part);
        else if (at < size)
            visit(Part{size - at}, at, part);
    };
    visit_rest(j, 0);
    if constexpr (n_parts == 2) visit_rest(j + wide_lanes, 1);
}

/// sign(v) max(|v| - t, 0), lane by lane: v - clamp(v, -t, t).
[[gnu::always_inline]] inline Wide soft_threshold(Wide v, Wide t) {
    const Wide below = v < -t ? -t : v;
    return v - (below > t ? t : below);
}

/// Rows and slopes of one step, copied: stores to the hyperplane could otherwise change them as far as
/// the compiler knows, and it would read them again for every vector.
template <std::size_t Count, class T>
struct Batch {
    const T* rows[Count];
    float slopes[Count];
    float total = 0.0F;

    [[gnu::always_inline]] Batch(const T* const rows_[4], const float slopes_[4]) {
        for (std::size_t k = 0; k < Count; ++k) {
            rows[k] = rows_[k];
            slopes[k] = slopes_[k];
            total += slopes_[k];
        }
    }
    /// metric * sum_k slope_k (row_k - mean) at the entries from j.
    template <class Access>
    [[gnu::always_inline]] Wide gradient(const StreamVectors& v, const Access& access, std::size_t j) const {
        Wide sum = slopes[0] * access.read(rows[0] + j);
        for (std::size_t k = 1; k < Count; ++k) sum += slopes[k] * access.read(rows[k] + j);
        return (sum - total * access.read(v.mean + j)) * access.read(v.metric + j);
    }
};

template <std::size_t Count, class T>
[[gnu::always_inline]] inline double stream_step_of(const StreamVectors v, const Batch<Count, T> batch, float step,
                                                    float inverse_rows) {
    constexpr auto repeats = static_cast<float>(Count);
    const float keep = Count == 1 ? v.keep : v.keep * v.keep * v.keep * v.keep;
    Sixteen centre{};
    for_vectors(v.size, [&](const auto& access, std::size_t j, std::size_t part) __attribute__((always_inline)) {
        const Wide fresh = batch.gradient(v, access, j);
        const Wide gradient = access.read(v.gradient + j);
        const Wide moved = access.read(v.w + j) - step * (fresh + repeats * gradient);
        const Wide next = soft_threshold(moved * keep, repeats * access.read(v.threshold + j));
        access.write(v.gradient + j, gradient + fresh * inverse_rows);
        access.write(v.w + j, next);
        centre[part] += next * access.read(v.mean + j);
    });
    return sum_lanes(centre);
}

template <std::size_t Count, class T>
[[gnu::always_inline]] inline void add_gradient_of(const StreamVectors v, const Batch<Count, T> batch) {
    for_vectors(v.size, [&](const auto& access, std::size_t j, std::size_t) __attribute__((always_inline)) {
        access.write(v.gradient + j, access.read(v.gradient + j) + batch.gradient(v, access, j));
    });
}

template <class T>
double stream_step(const StreamVectors& v, const T* const rows[4], const float change[4], std::size_t count, float step,
                   float inverse_rows) {
    return count == 4 ? stream_step_of(v, Batch<4, T>(rows, change), step, inverse_rows)
                      : stream_step_of(v, Batch<1, T>(rows, change), step, inverse_rows);
}

template <class T>
void add_gradient(const StreamVectors& v, const T* const rows[4], const float slope[4], std::size_t count) {
    if (count == 4)
        add_gradient_of(v, Batch<4, T>(rows, slope));
    else
        add_gradient_of(v, Batch<1, T>(rows, slope));
}

}  // namespace
}  // namespace spinney::simd
