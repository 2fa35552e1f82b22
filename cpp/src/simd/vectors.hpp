#pragma once
/// Vectors of the compiler, and how entries of rows get into them.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace spinney::simd {
namespace {

// Vectors of the compiler (GCC, Clang): lowered to whatever the target has, lane by lane the same.
using Float8 = float __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Float16 = float __attribute__((vector_size(64)));
using Double8 = double __attribute__((vector_size(64)));
#if defined(__AVX512F__)
using Wide = Float16;
#else
using Wide = Float8;
#endif
/// Lanes of the vectors that wide rows are handled with.
constexpr std::size_t wide_lanes = sizeof(Wide) / sizeof(float);

/// Doubles of one register, for what is done lane by lane: there any width gives the same bits.
#if defined(__AVX512F__)
using Doubles = Double8;
#elif defined(__AVX2__)
using Doubles = Double4;
#else
using Doubles = double __attribute__((vector_size(16)));
#endif
constexpr std::size_t double_lanes = sizeof(Doubles) / sizeof(double);

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V, class T>
[[gnu::always_inline]] inline void store(T* to, V v) {
    std::memcpy(to, &v, sizeof v);
}

/// Entries of a row as floats, as many as V has lanes.
template <class V>
[[gnu::always_inline]] inline V load_row(const float* from) {
    return load<V>(from);
}
// Spelt out, because compilers turn a conversion of eight bytes into single steps.
#if defined(__AVX2__)
template <class V>
    requires(sizeof(V) == sizeof(Float8))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return std::bit_cast<V>(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight)));
}
#else
template <class V>
    requires(sizeof(V) == sizeof(Float8))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    using Byte16 = std::uint8_t __attribute__((vector_size(16)));
    using Word2 = std::uint64_t __attribute__((vector_size(16)));
    using Short8 = std::uint16_t __attribute__((vector_size(16)));
    using Int4 = std::int32_t __attribute__((vector_size(16)));
    std::uint64_t eight = 0;
    std::memcpy(&eight, from, sizeof eight);
    // Zeros between the bytes, twice, make whole numbers of them.
    const auto bytes = std::bit_cast<Byte16>(Word2{eight, 0});
    const auto pairs =
        std::bit_cast<Short8>(__builtin_shufflevector(bytes, Byte16{}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    const auto low = std::bit_cast<Int4>(__builtin_shufflevector(pairs, Short8{}, 0, 8, 1, 9, 2, 10, 3, 11));
    const auto high = std::bit_cast<Int4>(__builtin_shufflevector(pairs, Short8{}, 4, 12, 5, 13, 6, 14, 7, 15));
    const Float4 first = __builtin_convertvector(low, Float4);
    const Float4 second = __builtin_convertvector(high, Float4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}
#endif
#if defined(__AVX512F__)
template <class V>
    requires(sizeof(V) == sizeof(Float16))
[[gnu::always_inline]] inline V load_row(const std::uint8_t* from) {
    using Int16 = std::int32_t __attribute__((vector_size(64)));
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    // With a mask of ones: GCC 12 warns about the undefined lanes of the plain intrinsic.
    return __builtin_convertvector(std::bit_cast<Int16>(_mm512_maskz_cvtepu8_epi32(0xFFFF, sixteen)), V);
}
#endif

/// The same for fewer entries, `count`; what is missing reads as zero.
template <class V, class T>
[[gnu::always_inline]] inline V load_part(const T* from, std::size_t count) {
    float part[sizeof(V) / sizeof(float)] = {};
    for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<float>(from[i]);
    return load<V>(part);
}

/// Eight entries of a row as doubles.
template <class T>
[[gnu::always_inline]] inline Double8 load_eight(const T* from) {
    return __builtin_convertvector(load_row<Float8>(from), Double8);
}
/// Four of them.
[[gnu::always_inline]] inline Double4 load_four(const float* from) {
    return __builtin_convertvector(load<Float4>(from), Double4);
}
[[gnu::always_inline]] inline Double4 load_four(const std::uint8_t* from) {
    return Double4{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
                   static_cast<double>(from[3])};
}

}  // namespace
}  // namespace spinney::simd
