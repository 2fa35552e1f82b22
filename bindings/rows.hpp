#pragma once
#include "arrays.hpp"
#include "spinney/design.hpp"

namespace spinney::python {

/// Rows of either kind; keeps the numpy arrays they borrow alive.
struct Rows {
    AnyRows design;
    std::vector<nb::object> owners;
};

void bind_interrupt(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_gains(nb::module_& m);
void bind_readout(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_table(nb::module_& m);
void bind_task(nb::module_& m);
void bind_optimizer(nb::module_& m);
void bind_leaf_system(nb::module_& m);
void bind_grow(nb::module_& m);

}  // namespace spinney::python
