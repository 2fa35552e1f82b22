/// Kernels for AVX2.
#include "simd/table.hpp"

namespace spinney::simd {

const Kernels avx2_kernels = table;

}  // namespace spinney::simd
