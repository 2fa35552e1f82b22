#include "rows.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Native kernels of spinney: rows, trees, node solvers, alternating optimisation.";
    spinney::python::bind_rows(m);
    spinney::python::bind_tree(m);
    spinney::python::bind_solvers(m);
    spinney::python::bind_optimizer(m);
}
