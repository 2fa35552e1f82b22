#include "spinney/simd.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "simd/kernels.hpp"

namespace spinney {
namespace {

using simd::Kernels;

struct Level {
    std::string_view name;
    const Kernels* kernels;
};

/// Levels that this processor has, the best last.
std::vector<Level> levels() {
    std::vector<Level> out{{"baseline", &simd::baseline_kernels}};
#if defined(SPINNEY_X86_LEVELS)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) out.push_back({"avx2", &simd::avx2_kernels});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        out.push_back({"avx512", &simd::avx512_kernels});
#endif
    return out;
}

/// The best level, or the one named by SPINNEY_SIMD if the processor has it.
Level choose() {
    const auto all = levels();
    const char* wanted = std::getenv("SPINNEY_SIMD");
    if (wanted == nullptr) return all.back();
    const auto found = std::ranges::find(all, std::string_view(wanted), &Level::name);
    return found == all.end() ? all.back() : *found;
}

Level level = choose();  // NOLINT: set once at load; only tests change it

const Kernels& now() { return *level.kernels; }

}  // namespace

std::vector<std::string_view> simd_levels() {
    std::vector<std::string_view> names;
    for (const Level& each : levels()) names.push_back(each.name);
    return names;
}

std::string_view simd_level() { return level.name; }

void use_simd_level(std::string_view name) {
    const auto all = levels();
    const auto found = std::ranges::find(all, name, &Level::name);
    if (found != all.end()) level = *found;
}

double dot(std::span<const float> x, const float* w) { return now().dot_floats(x, w); }
double dot(std::span<const std::uint8_t> x, const float* w) { return now().dot_bytes(x, w); }
double dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    return now().dot_sparse(indices, values, w);
}

double exact_dot(std::span<const float> x, const float* w) {
    double sum = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += static_cast<double>(x[j]) * static_cast<double>(w[j]);
    return sum;
}
double exact_dot(std::span<const std::int32_t> indices, const float* values, const float* w) {
    double sum = 0.0;
    for (std::size_t k = 0; k < indices.size(); ++k)
        sum += static_cast<double>(values[k]) * static_cast<double>(w[static_cast<std::size_t>(indices[k])]);
    return sum;
}

void walk(std::span<const float* const> rows, std::size_t size, const SplitArrays& splits, std::span<std::int32_t> at) {
    now().walk_floats(rows, size, splits, at);
}
void walk(std::span<const std::uint8_t* const> rows, std::size_t size, const SplitArrays& splits,
          std::span<std::int32_t> at) {
    now().walk_bytes(rows, size, splits, at);
}
void walk(std::span<const float* const> rows, const PaddedSplits& forest, std::span<std::int32_t> at) {
    now().walk_padded(rows, forest, at);
}
void walk(std::span<const float* const> rows, const SparseSplits& forest, std::span<std::int32_t> at) {
    now().walk_sparse(rows, forest, at);
}
void walk(std::span<const float* const> rows, std::span<const PackedAxis> forest, std::span<std::int32_t> at) {
    now().walk_axis(rows, forest, at);
}

void padded_scores(const float* x, const float* w, std::size_t stride, std::span<const double> bias, double* out) {
    now().padded_scores(x, w, stride, bias, out);
}
void softmax(std::span<double> scores) { now().softmax(scores); }

double stream_step(const StreamVectors& v, const float* const rows[4], const float change[4], std::size_t count,
                   float step, float inverse_rows) {
    return now().step_floats(v, rows, change, count, step, inverse_rows);
}
double stream_step(const StreamVectors& v, const std::uint8_t* const rows[4], const float change[4], std::size_t count,
                   float step, float inverse_rows) {
    return now().step_bytes(v, rows, change, count, step, inverse_rows);
}
void add_gradient(const StreamVectors& v, const float* const rows[4], const float slope[4], std::size_t count) {
    now().add_floats(v, rows, slope, count);
}
void add_gradient(const StreamVectors& v, const std::uint8_t* const rows[4], const float slope[4], std::size_t count) {
    now().add_bytes(v, rows, slope, count);
}

void standardise(std::span<const float> x, const double* mean, const double* inverse_scale, double* z) {
    now().standardise_floats(x, mean, inverse_scale, z);
}
void standardise(std::span<const std::uint8_t> x, const double* mean, const double* inverse_scale, double* z) {
    now().standardise_bytes(x, mean, inverse_scale, z);
}

void logistic(std::span<const double> t, double* p, double* loss) { now().logistic(t, p, loss); }
void sigmoid(std::span<double> t) { now().sigmoid(t); }

void add_hessian(const double* z, std::size_t n_rows, std::size_t stride, const double* h, double* hessian) {
    now().add_hessian(z, n_rows, stride, h, hessian);
}
void block_scores(const double* z, std::size_t n_rows, std::size_t stride, const double* w, double bias, double* out) {
    now().block_scores(z, n_rows, stride, w, bias, out);
}
void add_block_gradient(const double* z, std::size_t n_rows, std::size_t stride, const double* slopes, double* out) {
    now().add_block_gradient(z, n_rows, stride, slopes, out);
}

}  // namespace spinney
