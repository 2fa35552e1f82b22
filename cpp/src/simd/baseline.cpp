/// Kernels for what every processor of the architecture has.
#include "simd/table.hpp"

namespace spinney::simd {

const Kernels baseline_kernels = table;

}  // namespace spinney::simd
