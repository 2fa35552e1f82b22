#pragma once
/// Ctrl-C during long native calls.

#include <nanobind/nanobind.h>

#include <chrono>

namespace spinney::python {

/// True once Python has a signal to raise. Called without the GIL, which is taken only now and then: other
/// Python threads may hold it for milliseconds.
inline bool has_signal() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point next_look{};
    if (Clock::now() < next_look) return false;
    next_look = Clock::now() + std::chrono::milliseconds(50);
    const nanobind::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

inline void raise_if_interrupted(bool is_done) {
    if (!is_done) throw nanobind::python_error();  // PyErr_CheckSignals has set the exception
}

}  // namespace spinney::python
