#include <atomic>
#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "spinney/parallel.hpp"

namespace spinney::test {
namespace {

void every_task_runs_once() {
    for (std::size_t n_threads : {0U, 1U, 2U, 3U, 50U})
        for (std::size_t n_tasks : {0U, 1U, 2U, 37U}) {
            std::vector<std::atomic<int>> runs(n_tasks);
            expect(parallel_for(n_tasks, n_threads, [&](std::size_t i) { ++runs[i]; }), "not interrupted");
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
        const bool is_done =
            parallel_for(100000, n_threads, [&](std::size_t) {
                // The other threads leave some work until the caller, who alone is asked, has had its turn.
                while (std::this_thread::get_id() != caller && n_run > 1000 && n_asked < 4) std::this_thread::yield();
                ++n_run;
            }, [&] { return ++n_asked > 3; });
        expect(!is_done, "an interrupted loop says so");
        expect(n_run < 100000, "an interrupt leaves tasks undone");
        expect_equal(n_asked.load(), std::size_t{4}, "nobody is asked after the interrupt");
    }
}

void silent_interrupt_changes_nothing() {
    std::atomic<std::size_t> n_run{0};
    expect(parallel_for(100, 3, [&](std::size_t) { ++n_run; }, [] { return false; }), "not interrupted");
    expect_equal(n_run.load(), std::size_t{100}, "all tasks ran");
}

}  // namespace

std::vector<Test> parallel_tests() {
    return {{"every task runs once", every_task_runs_once},
            {"one thread keeps the order", one_thread_keeps_the_order},
            {"exceptions reach the caller", exceptions_reach_the_caller},
            {"a failure stops the rest", failure_stops_the_rest},
            {"an interrupt stops the work", interrupt_stops_the_work},
            {"a silent interrupt changes nothing", silent_interrupt_changes_nothing}};
}

}  // namespace spinney::test
