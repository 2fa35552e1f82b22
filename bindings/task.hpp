#pragma once
/// What a tree has to predict, by which loss and with which leaves, as Python says it.

#include <initializer_list>
#include <memory>
#include <string>

#include "rows.hpp"
#include "spinney/leaf.hpp"
#include "spinney/scaling.hpp"

namespace spinney::python {

/// Its arrays are borrowed from numpy, and kept alive by it.
struct Task {
    Vector<std::int32_t> classes;
    Matrix<double> values;
    Vector<double> weights;
    std::size_t n_outputs;
    std::string loss, leaf;
    double huber_delta, leaf_alpha, leaf_ridge;
    std::size_t leaf_epochs;
    double constant_l1 = 0.0, constant_l2 = 0.0;
};

/// Throws what the name is, and what is accepted.
[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& accepted);

/// Throws if a class code is not below the number of outputs.
void check_codes(const Targets& targets);

/// Targets of a task for rows of this shape; throws unless they agree with it, and so do the sizes of a scaling.
[[nodiscard]] Targets targets_of(const Task& task, std::size_t n_rows, std::size_t n_features,
                                 std::initializer_list<std::size_t> scaling_sizes);

/// Leaves of a task; `norms` are of use to linear leaves alone. All arguments but the options are borrowed.
[[nodiscard]] std::unique_ptr<Leaves> make_leaves(const Task& task, const Rows& rows, const Scaling& scaling,
                                                  std::span<const float> norms, const Targets& targets, std::size_t n_leaves,
                                                  const LinearOptions& solver);

/// Numbers of a dict of options; an unknown name is a programming error and is refused.
[[nodiscard]] LinearOptions solver_options(const nb::dict& given);

}  // namespace spinney::python
