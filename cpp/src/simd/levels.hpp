#pragma once
/// The kernels of each level of vector instructions; `simd.cpp` picks one when the library is loaded.

#include "spinney/simd.hpp"

namespace spinney::simd {

extern const Kernels baseline_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace spinney::simd
