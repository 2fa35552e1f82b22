/// Kernels for AVX2.
#include "simd/implementation.hpp"

namespace spinney::simd {

const Kernels avx2_kernels = kernels;

}  // namespace spinney::simd
