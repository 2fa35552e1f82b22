#include "spinney/simd.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "simd/levels.hpp"
#if defined(SPINNEY_X86_LEVELS)
#include "simd/x86_levels.hpp"
#endif

namespace spinney {
namespace {

struct Level {
    std::string_view name;
    const Kernels* kernels;
};

/// Levels that this processor has, the best last.
std::vector<Level> levels() {
    std::vector<Level> out{{"baseline", &simd::baseline_kernels}};
#if defined(SPINNEY_X86_LEVELS)
    const auto [has_avx2, has_avx512] = simd::x86_levels();
    if (has_avx2) out.push_back({"avx2", &simd::avx2_kernels});
    if (has_avx512) out.push_back({"avx512", &simd::avx512_kernels});
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

Level level = choose();  // NOLINT(bugprone-throwing-static-initialization): set once at load; only tests change it

}  // namespace

const Kernels* simd::in_use = level.kernels;

std::vector<std::string_view> simd_levels() {
    std::vector<std::string_view> names;
    for (const Level& each : levels()) names.push_back(each.name);
    return names;
}

std::string_view simd_level() { return level.name; }

void use_simd_level(std::string_view name) {
    const auto all = levels();
    const auto found = std::ranges::find(all, name, &Level::name);
    if (found == all.end()) return;
    level = *found;
    simd::in_use = level.kernels;
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

}  // namespace spinney
