/// Kernels for AVX-512 (F, BW, DQ, VL).
#include "simd/table.hpp"

namespace spinney::simd {

const Kernels avx512_kernels = table;

}  // namespace spinney::simd
