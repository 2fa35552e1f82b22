#pragma once
/// How Python ends long native calls: by Ctrl-C, or by a word to a thread that Ctrl-C does not reach.

#include <nanobind/nanobind.h>

#include <chrono>
#include <utility>

#include "spinney/parallel.hpp"

namespace spinney::python {

/// What has_signal calls on this thread besides; null for nothing. Owned.
inline thread_local PyObject* thread_look = nullptr;

/// True once Python has something to raise. Called without the GIL, which is taken only now and then: other
/// Python threads may hold it for milliseconds.
inline bool has_signal() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point next_look{};
    if (Clock::now() < next_look) return false;
    next_look = Clock::now() + std::chrono::milliseconds(50);
    const nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) return true;
    if (thread_look == nullptr) return false;
    PyObject* answer = PyObject_CallNoArgs(thread_look);
    Py_XDECREF(answer);
    return answer == nullptr;
}

/// What work() gives, without the GIL. If `interrupt` ends it, what Python has to raise is thrown.
template <class Work>
auto run_stoppable(const Work& work, Interrupt interrupt = has_signal) {
    try {
        const nanobind::gil_scoped_release release;
        const Interruptible scope(std::move(interrupt));
        return work();
    } catch (const Interrupted&) {
        throw nanobind::python_error();  // it was set where the interrupt was asked
    }
}

}  // namespace spinney::python
