#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <ctime>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#if defined(__linux__)
#include <sys/resource.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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

/// Whether all numbers below n_tasks are summed, each once.
[[nodiscard]] bool adds_up(std::size_t n_tasks, std::size_t n_threads) {
    std::atomic<std::size_t> sum{0};
    parallel_for(n_tasks, n_threads, [&](std::size_t i) { sum += i + 1; });
    return sum == n_tasks * (n_tasks + 1) / 2;
}

/// Two tasks at the same time: the caller's, and one of a helper, which begins first.
template <class OfCaller, class OfHelper>
void side_by_side(const OfCaller& of_caller, const OfHelper& of_helper) {
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> has_begun{false};
    parallel_for(2, 2, [&](std::size_t) {
        if (std::this_thread::get_id() != caller) {
            has_begun = true;
            return of_helper();
        }
        while (!has_begun) std::this_thread::yield();
        of_caller();
    });
}

void many_small_calls_share_their_threads() {
    constexpr std::size_t most_before = 50;  // of all tests
    std::mutex mutex;
    std::set<std::thread::id> seen;
    for (int k = 0; k < 2000; ++k) {
        parallel_for(3, 3, [&](std::size_t) {
            const std::scoped_lock lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
        expect(adds_up(2, 2), "each task is run once");
    }
    expect(seen.size() <= std::max<std::size_t>(most_before, std::thread::hardware_concurrency()),
           "threads are started once, not in each call");
}

void the_number_of_threads_may_change() {
    for (int k = 0; k < 100; ++k)
        for (std::size_t n_threads : {2U, 7U, 1U, 4U, 0U, 30U, 3U})
            for (std::size_t n_tasks : {5U, 1U, 100U}) expect(adds_up(n_tasks, n_threads), "each task is run once");
}

void tasks_of_tasks_end() {
    for (int k = 0; k < 100; ++k) {
        std::atomic<int> n_run{0};
        parallel_for(5, 3, [&](std::size_t) {
            parallel_for(4, 4, [&](std::size_t) { parallel_for(3, 2, [&](std::size_t) { ++n_run; }); });
        });
        expect_equal(n_run.load(), 60, "all levels run all their tasks");
    }
}

void threads_that_call_at_the_same_time_do_not_meet() {
    std::atomic<int> n_wrong{0};
    const auto call_often = [&](std::size_t n_threads) {
        for (std::size_t k = 0; k < 500; ++k) {
            if (!adds_up(1 + k % 9, n_threads)) ++n_wrong;
            try {
                parallel_for(6, n_threads, [&](std::size_t i) {
                    if (i == 4) throw std::runtime_error(std::to_string(k));
                });
                ++n_wrong;
            } catch (const std::runtime_error& error) {
                if (error.what() != std::to_string(k)) ++n_wrong;
            }
        }
    };
    std::vector<std::thread> callers;
    for (std::size_t n_threads : {2U, 3U, 4U, 2U}) callers.emplace_back(call_often, n_threads);
    for (std::thread& caller : callers) caller.join();
    expect_equal(n_wrong.load(), 0, "each caller has its own tasks and its own exceptions");
}

void exceptions_of_helpers_reach_the_caller() {
    for (int k = 0; k < 100; ++k)
        expect_throw<std::runtime_error>([] { side_by_side([] {}, [] { throw std::runtime_error("helper"); }); },
                                         "as they would from a thread of its own");
    expect(adds_up(10, 3), "helpers go on after it");
}

void exceptions_of_the_caller_wait_for_the_helpers() {
    for (int k = 0; k < 20; ++k) {
        std::atomic<bool> is_done{false};
        const auto take_long = [&] {
            std::this_thread::sleep_for(std::chrono::microseconds(100 * k));  // more or less than a thread looks before it sleeps
            is_done = true;
        };
        expect_throw<std::runtime_error>([&] { side_by_side([] { throw std::runtime_error("caller"); }, take_long); },
                                         "it is thrown");
        expect(is_done, "nobody works on a call that has ended");
    }
}

void exceptions_of_an_interrupt_wait_for_the_helpers() {
    std::atomic<bool> is_waiting{false}, is_done{false};
    const Interruptible scope([&]() -> bool {
        if (is_waiting) throw std::runtime_error("interrupt");
        return false;
    });
    const auto take_long = [&] {
        while (!is_waiting) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        is_done = true;
    };
    expect_throw<std::runtime_error>([&] { side_by_side([&] { is_waiting = true; }, take_long); }, "it is thrown");
    expect(is_done, "nobody works on a call that has ended");
}

void interrupted_threads_work_again() {
    for (int k = 0; k < 10; ++k) {
        std::atomic<int> n_asked{0};
        {
            const Interruptible scope([&] { return ++n_asked > 3; });
            expect_throw<Interrupted>([] { side_by_side([] {}, work_on); }, "a caller that waits asks");
        }
        expect(adds_up(100, 3), "the next call knows nothing of it");
    }
}

void threads_round_as_their_caller_does() {
    expect(adds_up(8, 4), "helpers exist");
    for (int rounding : {FE_UPWARD, FE_TONEAREST}) {
        std::fesetround(rounding);
        int of_helper = -1;
        side_by_side([] {}, [&] { of_helper = std::fegetround(); });
        expect_equal(of_helper, rounding, "which thread computes changes no bit");
    }
}

#if !defined(_WIN32)
void idle_threads_use_no_time() {
    expect(adds_up(8, 4), "helpers exist");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    expect(seconds < 0.1, "they sleep");
}

void signals_are_not_for_threads_of_the_library() {
    bool is_blocked = false;
    side_by_side([] {},
                 [&] {
                     sigset_t signals;
                     pthread_sigmask(SIG_SETMASK, nullptr, &signals);
                     is_blocked = sigismember(&signals, SIGINT) == 1 && sigismember(&signals, SIGSEGV) == 0;
                 });
    expect(is_blocked, "but errors are");
}
#else
void idle_threads_use_no_time() {}  // std::clock counts all time there
void signals_are_not_for_threads_of_the_library() {}
#endif

// ThreadSanitizer does not follow a child that starts threads.
#if defined(__SANITIZE_THREAD__)
#define SPINNEY_HAS_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPINNEY_HAS_TSAN
#endif
#endif

#if !defined(_WIN32) && !defined(SPINNEY_HAS_TSAN)
/// Whether check() is true in a child, which ends there.
template <class Check>
[[nodiscard]] bool is_true_in_child(const Check& check) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);  // the end of a child that hangs
        _exit(check() ? 0 : 1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[nodiscard]] bool has_working_threads() {
    bool is_right = true;
    for (int k = 0; k < 50; ++k) is_right = is_right && adds_up(20, 3);
    int of_helper = 0;
    side_by_side([] {}, [&] { of_helper = 1; });
    return is_right && of_helper == 1;
}

void forked_processes_have_threads_of_their_own() {
    expect(has_working_threads(), "before");
    for (int k = 0; k < 5; ++k) {
        expect(is_true_in_child([] { return has_working_threads() && is_true_in_child(has_working_threads); }),
               "in child and grandchild");
        expect(has_working_threads(), "afterwards");
    }
}

void forks_while_other_threads_work() {
    std::atomic<bool> is_over{false};
    std::vector<std::thread> others;
    for (std::size_t n_threads : {2U, 3U})
        others.emplace_back([&, n_threads] {
            while (!is_over) expect(adds_up(7, n_threads), "the parent's work goes on");
        });
    for (int k = 0; k < 20; ++k) expect(is_true_in_child(has_working_threads), "no lock is left closed in the child");
    is_over = true;
    for (std::thread& other : others) other.join();
}

/// The child has the caller's task, but not the thread that is at the other one.
void forks_of_tasks_do_not_hang() {
    bool is_child = false, is_refused = false;
    int status = -1;
    std::atomic<bool> is_over{false};
    const auto fork_here = [&] {
        const pid_t child = fork();
        is_child = child == 0;
        if (is_child) alarm(60);
        if (!is_child) waitpid(child, &status, 0);
        is_over = true;
    };
    try {
        side_by_side(fork_here, [&] {
            while (!is_over) std::this_thread::yield();
        });
    } catch (const std::runtime_error&) {
        is_refused = true;
    }
    if (is_child) _exit(is_refused && has_working_threads() ? 0 : 1);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child is told that tasks are lost");
    expect(!is_refused && has_working_threads(), "the parent has lost nothing");
}
#else
void forked_processes_have_threads_of_their_own() {}
void forks_while_other_threads_work() {}
void forks_of_tasks_do_not_hang() {}
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
            {"a silent interrupt changes nothing", silent_interrupt_changes_nothing},
            {"many small calls share their threads", many_small_calls_share_their_threads},
            {"the number of threads may change", the_number_of_threads_may_change},
            {"tasks of tasks end", tasks_of_tasks_end},
            {"threads that call at the same time do not meet", threads_that_call_at_the_same_time_do_not_meet},
            {"exceptions of helpers reach the caller", exceptions_of_helpers_reach_the_caller},
            {"exceptions of the caller wait for the helpers", exceptions_of_the_caller_wait_for_the_helpers},
            {"exceptions of an interrupt wait for the helpers", exceptions_of_an_interrupt_wait_for_the_helpers},
            {"interrupted threads work again", interrupted_threads_work_again},
            {"idle threads use no time", idle_threads_use_no_time},
            {"threads round as their caller does", threads_round_as_their_caller_does},
            {"signals are not for threads of the library", signals_are_not_for_threads_of_the_library},
            {"forked processes have threads of their own", forked_processes_have_threads_of_their_own},
            {"forks while other threads work", forks_while_other_threads_work},
            {"forks of tasks do not hang", forks_of_tasks_do_not_hang}};
}

}  // namespace spinney::test
