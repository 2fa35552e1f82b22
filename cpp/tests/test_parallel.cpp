#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#if defined(__linux__)
#include <sys/resource.h>
#endif

#include "check.hpp"
#include "spinney/parallel.hpp"

namespace spinney::test {
namespace {

void every_task_runs_once() {
    for (std::size_t n_threads : {0U, 1U, 2U, 3U, 50U})
        for (std::size_t n_tasks : {0U, 1U, 2U, 37U}) {
            std::vector<std::atomic<int>> runs(n_tasks);
            parallel_for(n_tasks, n_threads, [&](std::size_t i) { ++runs[i]; });
            for (const auto& count : runs) expect_equal(count.load(), 1, "a task runs exactly once");
        }
}

void one_thread_keeps_the_order() {
    std::vector<std::size_t> seen;
    parallel_for(5, 1, [&](std::size_t i) { seen.push_back(i); });
    expect_equal(seen, std::vector<std::size_t>{0, 1, 2, 3, 4}, "tasks run in the order of their numbers");
}

void exceptions_reach_the_caller() {
    for (std::size_t n_threads : {1U, 3U})
        expect_throw<std::runtime_error>(
            [&] {
                parallel_for(20, n_threads, [](std::size_t i) {
                    if (i == 7) throw std::runtime_error("seven");
                });
            },
            "the exception of a task is thrown again");
}

void failure_stops_the_rest() {
    std::size_t n_run = 0;
    try {
        parallel_for(1000, 1, [&](std::size_t) {
            ++n_run;
            throw std::runtime_error("first");
        });
    } catch (const std::runtime_error&) {
        expect_equal(n_run, std::size_t{1}, "no task starts after a failure");
    }
}

void interrupt_stops_the_work() {
    const auto caller = std::this_thread::get_id();
    for (std::size_t n_threads : {1U, 3U}) {
        std::atomic<std::size_t> n_run{0};
        std::atomic<std::size_t> n_asked{0};
        const Interruptible scope([&] { return ++n_asked > 3; });
        expect_throw<Interrupted>(
            [&] {
                parallel_for(100000, n_threads, [&](std::size_t) {
                    // The other threads leave some work until the caller, who alone is asked, has had its turn.
                    while (std::this_thread::get_id() != caller && n_run > 1000 && n_asked < 4) std::this_thread::yield();
                    ++n_run;
                });
            },
            "an interrupted loop says so");
        expect(n_run < 100000, "an interrupt leaves tasks undone");
        expect_equal(n_asked.load(), std::size_t{4}, "nobody is asked after the interrupt");
    }
}

/// Works until it is told to stop, as one long task does.
void work_on() {
    for (std::size_t i = 0;; ++i) check_stop_at(i);
}

void interrupt_stops_a_task_of_the_caller() {
    std::atomic<int> n_asked{0};
    const Interruptible scope([&] { return ++n_asked > 3; });
    expect_throw<Interrupted>([] { work_on(); }, "a loop of its own");
    expect_throw<Interrupted>([] { parallel_for(1, 1, [](std::size_t) { work_on(); }); }, "a task");
}

void caller_without_tasks_asks_for_its_helpers() {
    const auto caller = std::this_thread::get_id();
    std::atomic<int> n_asked{0};
    std::atomic<bool> is_caller_free{false}, is_helper_busy{false};
    std::atomic<int> n_ended{0};
    const Interruptible scope([&] {
        expect(std::this_thread::get_id() == caller, "nobody but the caller is asked");
        return is_caller_free && ++n_asked > 3;
    });
    const auto work = [&](std::size_t) {
        if (std::this_thread::get_id() == caller) {
            while (!is_helper_busy) std::this_thread::yield();  // it might take both tasks
            is_caller_free = true;
            return;
        }
        is_helper_busy = true;
        try {
            work_on();
        } catch (const Interrupted&) {
            ++n_ended;
            throw;
        }
    };
    expect_throw<Interrupted>([&] { parallel_for(2, 2, work); }, "the call says so");
    expect_equal(n_ended.load(), 1, "its helper was in the middle of a task, and has left it");
}

void interrupts_reach_helpers_of_helpers() {
    std::atomic<int> n_asked{0};
    const Interruptible scope([&] { return ++n_asked > 3; });
    expect_throw<Interrupted>([] { parallel_for(2, 2, [](std::size_t) { parallel_for(2, 2, [](std::size_t) { work_on(); }); }); },
                              "both levels end");
}

void interrupts_end_with_their_scope() {
    {
        const Interruptible scope([] { return true; });
        expect_throw<Interrupted>([] { check_stop(); }, "inside");
        {
            const Interruptible inner([] { return false; });
            check_stop();
        }
        expect_throw<Interrupted>([] { check_stop(); }, "the outer one again");
    }
    check_stop();
}

void short_loops_do_not_ask() {
    int n_asked = 0;
    const Interruptible scope([&] { return ++n_asked < 0; });
    for (std::size_t i = 0; i < 512; ++i) check_stop_at(i);
    check_stop_after(511);
    expect_equal(n_asked, 0, "none of few rows");
    for (std::size_t step : {1U, 4U, 64U})
        for (std::size_t i = 0; i < 10240; i += step) check_stop_at(i);
    expect_equal(n_asked, 30, "one in 1024 rows");
}

void silent_interrupt_changes_nothing() {
    std::atomic<std::size_t> n_run{0};
    const Interruptible scope([] { return false; });
    parallel_for(100, 3, [&](std::size_t) { ++n_run; });
    expect_equal(n_run.load(), std::size_t{100}, "all tasks ran");
}

// Sanitizers need address space of their own.
#if defined(__linux__) && !defined(SPINNEY_IS_SANITIZED)
/// While it lives, the process gets next to no more memory, and so no stacks of new threads.
class LittleMemory {
  public:
    LittleMemory() {
        getrlimit(RLIMIT_AS, &before_);
        rlimit little = before_;
        little.rlim_cur = std::size_t{1} << 20U;  // less than it has
        setrlimit(RLIMIT_AS, &little);
    }
    ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

  private:
    rlimit before_{};
};

void missing_threads_leave_the_work_to_the_others() {
    std::vector<std::atomic<int>> runs(200);
    const std::function<void(std::size_t)> task = [&](std::size_t i) { ++runs[i]; };
    {
        const LittleMemory scope;
        parallel_for(runs.size(), 100, task);
    }
    for (const auto& count : runs) expect_equal(count.load(), 1, "a task runs exactly once");
}
#else
void missing_threads_leave_the_work_to_the_others() {}
#endif

}  // namespace

std::vector<Test> parallel_tests() {
    return {{"every task runs once", every_task_runs_once},
            {"one thread keeps the order", one_thread_keeps_the_order},
            {"exceptions reach the caller", exceptions_reach_the_caller},
            {"a failure stops the rest", failure_stops_the_rest},
            {"an interrupt stops the work", interrupt_stops_the_work},
            {"an interrupt stops a task of the caller", interrupt_stops_a_task_of_the_caller},
            {"a caller without tasks asks for its helpers", caller_without_tasks_asks_for_its_helpers},
            {"interrupts reach helpers of helpers", interrupts_reach_helpers_of_helpers},
            {"interrupts end with their scope", interrupts_end_with_their_scope},
            {"short loops do not ask", short_loops_do_not_ask},
            {"missing threads leave the work to the others", missing_threads_leave_the_work_to_the_others},
            {"a silent interrupt changes nothing", silent_interrupt_changes_nothing}};
}

}  // namespace spinney::test
