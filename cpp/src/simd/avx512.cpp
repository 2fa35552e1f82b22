/// Kernels for AVX-512 (F, BW, DQ, VL).
#include "simd/implementation.hpp"

namespace spinney::simd {

const Kernels avx512_kernels = kernels;

}  // namespace spinney::simd
