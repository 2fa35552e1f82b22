#pragma once
/// What a tree under optimisation holds, to Python and back: its splits and leaves for use, or all of it to the bit.

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "tree_optimizer.hpp"

namespace spinney::python {

/// Full rows without their zeros: begin of each row, columns, values.
using CsrArrays = std::tuple<Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>>;
template <class T>
using Numpy = nb::ndarray<nb::numpy, T>;
using NumpyCsr = std::tuple<Numpy<std::int64_t>, Numpy<std::int32_t>, Numpy<float>>;

/// Bias a node, hyperplanes as CSR over nodes.
[[nodiscard]] std::tuple<Numpy<double>, NumpyCsr> splits_of(const Optimizer& self);
/// Leaf values (n_leaves x n_outputs) in node order and the CSR of linear leaves.
[[nodiscard]] std::tuple<Numpy<double>, NumpyCsr> leaves_of(const Optimizer& self);

/// Starts from splits and leaves in node order; no leaf values stand for leaves that are to be fitted.
void set_tree(Optimizer& self, const Vector<double>& bias, const Vector<std::int64_t>& indptr,
              const Vector<std::int32_t>& indices, const Vector<float>& weights, const Matrix<double>& leaf_values,
              const Matrix<float>& leaf_weights);
/// Takes constant leaves in node order that were fitted elsewhere.
void set_leaves(Optimizer& self, const Matrix<double>& values);

/// Writes the number of each row's leaf, in the order of the leaf nodes; 0 for rows of no weight.
void write_leaf_numbers(Optimizer& self, const AnyNumbers<WritableVector>& out);
/// Brings the rows to the leaves of these numbers, as they were written when the last turn of the tree ended, and takes constant
/// leaves in node order.
void take_turn(Optimizer& self, const AnyNumbers<Vector>& leaf_numbers, const Matrix<double>& values);

/// Everything that decides how a tree goes on, in the order of the core: biases and hyperplanes of the splits, values and
/// hyperplanes of the leaves, and which leaves have been fitted.
using ExactState = std::tuple<Numpy<double>, NumpyCsr, Numpy<double>, NumpyCsr, Numpy<std::uint8_t>>;
[[nodiscard]] ExactState present_state(const Optimizer& self);
[[nodiscard]] ExactState kept_state(const Optimizer& self);
void set_state(Optimizer& self, const Vector<double>& bias, const CsrArrays& splits, const Vector<double>& leaf_values,
               const CsrArrays& leaf_weights, const Vector<std::uint8_t>& fitted);

}  // namespace spinney::python
