#include "interrupt.hpp"

#include "rows.hpp"

namespace spinney::python {
namespace {

nb::object set_thread_look(nb::object look) {
    PyObject* now = look.is_none() ? nullptr : look.release().ptr();
    PyObject* before = std::exchange(thread_look, now);
    return before == nullptr ? nb::none() : nb::steal(before);
}

}  // namespace

void bind_interrupt(nb::module_& m) {
    m.def("set_thread_look", &set_thread_look, nb::arg("look").none(),
          "Has native calls of this thread call `look` every 50 ms, whose error ends them; returns what they called before.");
}

}  // namespace spinney::python
