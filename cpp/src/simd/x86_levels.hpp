#pragma once
/// What an x86-64 processor has beyond the baseline, asked of the processor itself: the library that compilers' own
/// __builtin_cpu_supports reads from is not part of every one of them.

#include <cpuid.h>

#include <cstdint>

namespace spinney::simd {

struct X86Levels {
    bool has_avx2 = false;
    bool has_avx512 = false;  ///< F, BW, DQ and VL
};

/// The registers that the system saves when it changes threads, as bits of XCR0.
[[nodiscard]] inline std::uint32_t saved_registers() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

[[nodiscard]] constexpr bool has_all(std::uint32_t word, std::uint32_t bits) { return (word & bits) == bits; }

[[nodiscard]] inline X86Levels x86_levels() {
    constexpr std::uint32_t ymm = 0x06;
#if defined(__APPLE__)
    constexpr std::uint32_t zmm = ymm;  // macOS begins to save the others when a thread first uses them
#else
    constexpr std::uint32_t zmm = 0xE6;
#endif
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::uint32_t d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has_all(c, bit_OSXSAVE)) return {};
    const std::uint32_t saved = saved_registers();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
    return {.has_avx2 = has_all(saved, ymm) && has_all(b, bit_AVX2),
            .has_avx512 = has_all(saved, zmm) && has_all(b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)};
}

}  // namespace spinney::simd
