#pragma once
/// Threads, and how their work is ended: the only header that knows them. Tasks must write to places of their own, so
/// that the result does not depend on which thread runs which task.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace spinney {

/// Asked again and again during the work; true means: stop as soon as possible.
/// Called only on the thread that entered the library.
using Interrupt = std::function<bool()>;

/// Thrown where the work is at the time when it is to stop. What was under work is then of no use.
class Interrupted final : public std::exception {
  public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

class StopWatch;

/// While it lives, `interrupt` can end the work of this thread and of all threads that help it.
class Interruptible {
  public:
    explicit Interruptible(Interrupt interrupt);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    std::unique_ptr<StopWatch> watch_;
    StopWatch* outer_;
};

/// Throws Interrupted if the work of this thread is to stop. Does nothing outside of any Interruptible. Costs some 50 ns,
/// so that loops over rows ask by one of the two below.
void check_stop();

/// Once in 1024 numbers of a loop; steps may be powers of two up to 512. Short loops do not ask at all.
inline void check_stop_at(std::size_t i) {
    if (i % 1024 == 512) check_stop();
}

/// After a pass over so many rows that has no room for the question, unless they are few.
inline void check_stop_after(std::size_t n_rows) {
    if (n_rows >= 512) check_stop();
}

/// Runs task(0), ..., task(n_tasks - 1) on up to n_threads threads, in the order of their numbers. An exception of a
/// task is thrown again here. A caller whose helpers are still at work goes on asking the interrupt. Helpers are started
/// when they are first needed and then sleep between calls. Calls at the same time and calls by tasks share them; a call
/// that finds none idle is worked on by its caller alone. A forked process has helpers of its own.
void parallel_for(std::size_t n_tasks, std::size_t n_threads, const std::function<void(std::size_t)>& task);

}  // namespace spinney
