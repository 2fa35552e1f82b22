#include "rows.hpp"

NB_MODULE(_core, m) {
    // A fitted forest may live until the interpreter ends; that is no mistake to report to users.
    nanobind::set_leak_warnings(false);
    m.doc() = "Native kernels of spinney: rows, trees, forests, node solvers, alternating optimisation.";
    spinney::python::bind_interrupt(m);
    spinney::python::bind_rows(m);
    spinney::python::bind_tree(m);
    spinney::python::bind_forest(m);
    spinney::python::bind_gains(m);
    spinney::python::bind_readout(m);
    spinney::python::bind_solvers(m);
    spinney::python::bind_task(m);
    spinney::python::bind_optimizer(m);
    spinney::python::bind_leaf_system(m);
    spinney::python::bind_grow(m);
    spinney::python::bind_table(m);
}
