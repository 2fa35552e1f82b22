#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "spinney/table/training_table.hpp"

namespace spinney::python {

/// Rows of either kind, and what training makes of them; keeps the numpy arrays they borrow alive.
struct Rows {
    AnyRows design;
    std::vector<nb::object> owners;
    std::shared_ptr<const TrainingTable> table;

    Rows(const AnyRows& rows, std::vector<nb::object> kept_alive)
        : design(rows), owners(std::move(kept_alive)), table(std::make_shared<const TrainingTable>(rows)) {}
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
