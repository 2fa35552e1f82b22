#pragma once
/// Threads: the only header that knows them. Tasks must write to places of their own, so that the
/// result does not depend on which thread runs which task.

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace spinney {

/// Asked between pieces of work; true means: stop as soon as possible.
/// Called only on the thread that entered the library.
using Interrupt = std::function<bool()>;

/// Runs task(0), ..., task(n_tasks - 1) on up to n_threads threads, in the order of their numbers.
/// An exception of a task is thrown again here. Returns false if `interrupt` stopped it.
bool parallel_for(std::size_t n_tasks, std::size_t n_threads, const std::function<void(std::size_t)>& task,
                  const Interrupt& interrupt = {});

/// Whether to stop, for tasks that take long by themselves: any thread may ask. Only the one that made the watch asks the
/// interrupt, the others see its answer.
class StopWatch {
public:
    explicit StopWatch(Interrupt interrupt) : interrupt_(std::move(interrupt)), owner_(std::this_thread::get_id()) {}
    [[nodiscard]] bool is_stopped() {
        if (!stopped_ && interrupt_ && std::this_thread::get_id() == owner_ && interrupt_()) stopped_ = true;
        return stopped_;
    }

private:
    Interrupt interrupt_;
    std::thread::id owner_;
    std::atomic<bool> stopped_{false};
};

}  // namespace spinney
