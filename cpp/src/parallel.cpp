#include "spinney/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace spinney {

/// Only the thread that made the watch asks the interrupt; the others see its answer.
class StopWatch {
  public:
    explicit StopWatch(Interrupt interrupt) : interrupt_(std::move(interrupt)), owner_(std::this_thread::get_id()) {}

    [[nodiscard]] bool is_stopped() {
        if (stopped_.load(std::memory_order_relaxed)) return true;
        if (!interrupt_ || std::this_thread::get_id() != owner_ || !interrupt_()) return false;
        stopped_ = true;
        return true;
    }

  private:
    Interrupt interrupt_;
    std::thread::id owner_;
    std::atomic<bool> stopped_{false};
};

namespace {

/// How often a caller that waits for its helpers asks the interrupt.
constexpr std::chrono::milliseconds waiting_pause{20};

/// The watch under which this thread works. Not an argument of every function: nothing but the end of the work depends
/// on it, and any loop in the library may have to ask.
thread_local StopWatch* present_watch = nullptr;

bool is_stopped() { return present_watch != nullptr && present_watch->is_stopped(); }

/// Threads that share the tasks of one call; joined before it ends, however it ends.
class Team {
  public:
    Team(std::size_t n_tasks, const std::function<void(std::size_t)>& task) : n_tasks_(n_tasks), task_(task) {}
    ~Team() {
        is_ended_ = true;
        for (std::thread& helper : helpers_) helper.join();
    }
    Team(const Team&) = delete;  // its threads know where it is
    Team& operator=(const Team&) = delete;

    /// Runs tasks until none is left, or the work is to end.
    void work() {
        try {
            while (!is_ended_.load(std::memory_order_relaxed)) {
                check_stop();
                const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
                if (index >= n_tasks_) return;
                task_(index);
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            is_ended_ = true;
        }
    }

    /// The same on threads of their own: fewer than asked for if the system has no more, which changes no result.
    void start_helpers(std::size_t count) {
        helpers_.reserve(count);
        try {
            while (helpers_.size() < count) {
                helpers_.emplace_back([this, watch = present_watch] { help(watch); });
                const std::scoped_lock lock(mutex_);
                ++n_started_;
            }
        } catch (const std::system_error&) {
            return;
        }
    }

    /// Waits for the helpers. They hear of an interrupt by the watch, but someone has to ask it.
    void wait() {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, waiting_pause, [&] { return n_done_ == n_started_; })) {
            lock.unlock();
            if (is_stopped()) is_ended_ = true;
            lock.lock();
        }
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void help(StopWatch* watch) {
        present_watch = watch;
        work();
        const std::scoped_lock lock(mutex_);
        ++n_done_;
        changed_.notify_all();
    }

    std::size_t n_tasks_;
    const std::function<void(std::size_t)>& task_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> is_ended_{false};
    std::exception_ptr failure_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t n_started_ = 0, n_done_ = 0;
    std::vector<std::thread> helpers_;
};

}  // namespace

Interruptible::Interruptible(Interrupt interrupt)
    : watch_(std::make_unique<StopWatch>(std::move(interrupt))), outer_(std::exchange(present_watch, watch_.get())) {}

Interruptible::~Interruptible() { present_watch = outer_; }

void check_stop() {
    if (is_stopped()) throw Interrupted();
}

void parallel_for(std::size_t n_tasks, std::size_t n_threads, const std::function<void(std::size_t)>& task) {
    Team team(n_tasks, task);
    const std::size_t n_helpers = std::min(n_threads, n_tasks) > 1 ? std::min(n_threads, n_tasks) - 1 : 0;
    team.start_helpers(n_helpers);
    team.work();
    if (n_helpers > 0) team.wait();
    team.rethrow();
    if (n_helpers > 0) check_stop();
}

}  // namespace spinney
