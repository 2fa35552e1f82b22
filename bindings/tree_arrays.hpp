#pragma once
/// A finished tree as it comes from Python.

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "spinney/forest.hpp"

namespace spinney::python {

/// Children, biases and hyperplanes of the splits, values and weights of the leaves, whether these are linear.
using TreeArrays =
    std::tuple<Vector<std::int32_t>, Vector<std::int32_t>, Vector<double>, Vector<std::int64_t>, Vector<std::int32_t>,
               Vector<float>, Matrix<double>, Vector<std::int64_t>, Vector<std::int32_t>, Vector<float>, bool>;

[[nodiscard]] inline ForestTree view_of(const TreeArrays& arrays, std::size_t n_features) {
    const auto& [left, right, bias, indptr, indices, weights, values, leaf_indptr, leaf_indices, leaf_weights, is_linear] =
        arrays;
    const TreeView splits{span_of(left),    span_of(right),   span_of(bias), span_of(indptr),
                          span_of(indices), span_of(weights), n_features};
    const LinearLeafView leaves{
        {values.data(), values.size()}, span_of(leaf_indptr), span_of(leaf_indices), span_of(leaf_weights), values.shape(1)};
    return {splits, leaves, is_linear};
}

}  // namespace spinney::python
