/// Kernels for what every processor of the architecture has.
#include "simd/implementation.hpp"

namespace spinney::simd {

const Kernels baseline_kernels = kernels;

}  // namespace spinney::simd
