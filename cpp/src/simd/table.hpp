#pragma once
/// All kernels, to be included by one file a level of vector instructions: the compiler's flags for that file decide what
/// they become. All levels give the same bits. Everything is local to the file that includes it.

#include "simd/blocks.hpp"
#include "simd/descent.hpp"
#include "simd/dot.hpp"
#include "simd/exponentials.hpp"
#include "simd/levels.hpp"
#include "simd/stream.hpp"
#include "simd/walk.hpp"

namespace spinney::simd {
namespace {

template <class T>
constexpr RowKernels<T> row_table{
    .dot = dot<T>,
    .walk = walk<T>,
    .stream_step = stream_step<T>,
    .add_gradient = add_gradient<T>,
    .standardise = standardise<T>,
};

constexpr Kernels table{
    .floats = row_table<float>,
    .bytes = row_table<std::uint8_t>,
    .sparse_dot = sparse_dot,
    .walk_padded = walk_padded,
    .walk_sparse = walk_sparse,
    .walk_axis = walk_axis,
    .padded_scores = padded_scores,
    .softmax = softmax,
    .logistic = logistic,
    .sigmoid = sigmoid,
    .add_hessian = add_hessian,
    .weigh_block = weigh_block,
    .block_scores = block_scores,
    .add_block_gradient = add_block_gradient,
    .descend = descend,
};

}  // namespace
}  // namespace spinney::simd
