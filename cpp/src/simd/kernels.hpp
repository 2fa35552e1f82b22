#pragma once
/// The kernels of one level of vector instructions as a table; `simd.cpp` picks a level when the library is loaded.

#include "spinney/simd.hpp"

namespace spinney::simd {

struct Kernels {
    double (*dot_floats)(std::span<const float>, const float*);
    double (*dot_bytes)(std::span<const std::uint8_t>, const float*);
    double (*dot_sparse)(std::span<const std::int32_t>, const float*, const float*);
    void (*walk_floats)(std::span<const float* const>, std::size_t, const SplitArrays&, std::span<std::int32_t>);
    void (*walk_bytes)(std::span<const std::uint8_t* const>, std::size_t, const SplitArrays&, std::span<std::int32_t>);
    void (*walk_padded)(std::span<const float* const>, const PaddedSplits&, std::span<std::int32_t>);
    void (*walk_sparse)(std::span<const float* const>, const SparseSplits&, std::span<std::int32_t>);
    void (*walk_axis)(std::span<const float* const>, std::span<const PackedAxis>, std::span<std::int32_t>);
    void (*padded_scores)(const float*, const float*, std::size_t, std::span<const double>, double*);
    void (*softmax)(std::span<double>);
    double (*step_floats)(const StreamVectors&, const float* const*, const float*, std::size_t, float, float);
    double (*step_bytes)(const StreamVectors&, const std::uint8_t* const*, const float*, std::size_t, float, float);
    void (*add_floats)(const StreamVectors&, const float* const*, const float*, std::size_t);
    void (*add_bytes)(const StreamVectors&, const std::uint8_t* const*, const float*, std::size_t);
    void (*standardise_floats)(std::span<const float>, const double*, const double*, double*);
    void (*standardise_bytes)(std::span<const std::uint8_t>, const double*, const double*, double*);
    void (*logistic)(std::span<const double>, double*, double*);
    void (*sigmoid)(std::span<double>);
    void (*add_hessian)(const double*, std::size_t, std::size_t, const double*, double*);
    void (*block_scores)(const double*, std::size_t, std::size_t, const double*, double, double*);
    void (*add_block_gradient)(const double*, std::size_t, std::size_t, const double*, double*);
};

extern const Kernels baseline_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace spinney::simd
