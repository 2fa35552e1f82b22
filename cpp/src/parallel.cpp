#include "spinney/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#if !defined(_WIN32)
#include <pthread.h>

#include <csignal>
#endif

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

/// How long a thread looks for work, or for the end of it, before it sleeps. Waking takes about as long.
constexpr std::chrono::microseconds looking_time{50};

/// The watch under which this thread works. Not an argument of every function: nothing but the end of the work depends
/// on it, and any loop in the library may have to ask.
thread_local StopWatch* present_watch = nullptr;

bool is_stopped() { return present_watch != nullptr && present_watch->is_stopped(); }

/// Looks again and again for a short time whether is_true(), and leaves the core to others that want it in between.
template <class Question>
bool spin(std::chrono::microseconds patience, const Question& is_true) {
    if (is_true()) return true;
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_true()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::yield();
    }
    return true;
}

/// Wakes threads that wait for a change of atomic variables. Whoever changes them rings afterwards, which costs next to
/// nothing while nobody sleeps. Both sides rely on the order that all sequentially consistent operations have: either
/// the sleeper sees the change, or the ringer sees the sleeper.
class Bell {
  public:
    template <class Question>
    void wait(const Question& is_true) {
        std::unique_lock lock(mutex_);
        ++n_sleepers_;
        rung_.wait(lock, is_true);
        --n_sleepers_;
    }

    /// The same for some time only: whether it is true at its end.
    template <class Question>
    bool wait_for(std::chrono::milliseconds patience, const Question& is_true) {
        std::unique_lock lock(mutex_);
        ++n_sleepers_;
        const bool is_true_now = rung_.wait_for(lock, patience, is_true);
        --n_sleepers_;
        return is_true_now;
    }

    void ring() {
        if (n_sleepers_ == 0) return;
        // A sleeper that has asked its question and does not sleep yet holds the lock.
        std::unique_lock(mutex_).unlock();
        rung_.notify_all();
    }

  private:
    std::atomic<int> n_sleepers_{0};
    std::mutex mutex_;
    std::condition_variable rung_;
};

/// The tasks of one call of parallel_for. Lives on the stack of its caller.
class Call {
  public:
    Call(std::size_t n_tasks, const std::function<void(std::size_t)>& task) : n_tasks_(n_tasks), task_(task) {}
    Call(const Call&) = delete;  // helpers know where it is
    Call& operator=(const Call&) = delete;

    /// What the work of helpers depends on besides its tasks is as it is for the caller: its watch, and how it rounds.
    void prepare_for_helpers() {
        watch_ = present_watch;
        std::fegetenv(&arithmetic_);
    }

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
            if (!has_failed_.exchange(true)) failure_ = std::current_exception();
            end();
        }
    }

    /// The same on the thread of a helper.
    void help() {
        std::fesetenv(&arithmetic_);
        present_watch = watch_;
        work();
        present_watch = nullptr;
    }

    /// No further task is begun.
    void end() { is_ended_ = true; }

    [[nodiscard]] bool has_tasks_left() const { return next_.load(std::memory_order_relaxed) < n_tasks_; }

    /// Only after all helpers have left.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    std::size_t n_tasks_;
    const std::function<void(std::size_t)>& task_;
    StopWatch* watch_ = nullptr;
    std::fenv_t arithmetic_{};
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> is_ended_{false}, has_failed_{false};
    std::exception_ptr failure_;
};

/// A thread that waits for calls to help with. It never ends, and neither does the object.
///
/// It first says which call it is about to begin, and only then takes the offer. A caller who takes its offer back thus
/// knows: either it gets it back and the helper will not touch the call, or begun_ is the call for as long as it does.
/// begun_ may name a call for a moment longer, or late, while the helper finds out that the offer is gone.
class Helper {
  public:
    Helper(Call& first, std::chrono::microseconds patience) : offered_(&first), patience_(patience) {}

    [[noreturn]] void run() {
        for (;;) {
            await_offer();
            Call* const call = offered_;
            begun_ = call;
            Call* expected = call;
            if (call != nullptr && offered_.compare_exchange_strong(expected, nullptr)) call->help();
            begun_ = nullptr;
            bell_.ring();
        }
    }

    /// False if it is busy.
    bool offer(Call& call) {
        Call* nothing = nullptr;
        if (begun_ != nullptr || !offered_.compare_exchange_strong(nothing, &call)) return false;
        bell_.ring();
        return true;
    }

    /// Takes an offer back that the helper has not taken; does nothing if there was none.
    void withdraw(Call& call) {
        Call* expected = &call;
        if (offered_ == expected) offered_.compare_exchange_strong(expected, nullptr);
    }

    [[nodiscard]] bool is_at(const Call& call) const { return begun_ == &call; }

    /// Sleeps until the helper has left the call, but not for long. Whether it has.
    bool wait_until_left(const Call& call) {
        return bell_.wait_for(waiting_pause, [&] { return !is_at(call); });
    }

    std::atomic<Helper*> next{nullptr};

  private:
    void await_offer() {
        const auto is_offered = [&] { return offered_ != nullptr; };
        if (!spin(patience_, is_offered)) bell_.wait(is_offered);
    }

    std::atomic<Call*> offered_;
    std::atomic<Call*> begun_{nullptr};
    std::chrono::microseconds patience_;
    Bell bell_;
};

class Team;

/// The team of this process: null until it is needed. After a fork the child has none of the parent's threads, and locks
/// that these held would never be opened. So it leaves the old team as it is, and starts anew.
std::atomic<Team*> present_team{nullptr};

#if defined(_WIN32)
void leave_signals_to_others() {}
#else
[[maybe_unused]] const int fork_watch = pthread_atfork(nullptr, nullptr, [] { present_team = nullptr; });

/// A process that waits for a signal, or has blocked it, must not get it through a thread it does not know of. Signals
/// of errors stay with the thread that made them.
void leave_signals_to_others() {
    sigset_t signals;
    sigfillset(&signals);
    for (int error : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) sigdelset(&signals, error);
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
}
#endif

/// All helpers of a process, as a list that only grows. Nothing of it is ever given back: threads that sleep when the
/// process ends must find their places, and a process needs but one team.
class Team {
  public:
    static Team& of_process() {
        Team* team = present_team;
        if (team != nullptr) return *team;
        auto fresh = std::make_unique<Team>();
        if (present_team.compare_exchange_strong(team, fresh.get())) team = fresh.release();
        return *team;
    }

    /// Offers the call to idle helpers, and starts new ones if there are too few. Fewer get it if the system has no more
    /// threads, or all are busy with other calls: this changes no result.
    void offer(Call& call, std::size_t n_wanted) {
        std::size_t n_offered = 0;
        for (Helper* helper = first_; helper != nullptr; helper = helper->next) {
            if (n_offered == n_wanted || !call.has_tasks_left()) return;
            if (helper->offer(call)) ++n_offered;
        }
        while (n_offered < n_wanted && call.has_tasks_left() && start_helper(call, n_wanted)) ++n_offered;
    }

    template <class Visit>
    void for_each(const Visit& visit) {
        for (Helper* helper = first_; helper != nullptr; helper = helper->next) visit(*helper);
    }

    /// Whether this process is a child of the one that has the helpers.
    [[nodiscard]] bool is_abandoned() const { return present_team != this; }

  private:
    /// As many as the largest call has wanted; calls at the same time get more while there are cores.
    bool start_helper(Call& call, std::size_t n_wanted) {
        const auto is_full = [&] { return n_helpers_ >= std::max(n_wanted, n_cores_ - 1); };
        if (is_full()) return false;  // often so; calls at the same time do not queue up for this answer
        const std::scoped_lock lock(growing_);
        if (is_full()) return false;
        // Who has no core to itself does not look for work, for others may be kept from theirs.
        auto helper = std::make_unique<Helper>(call, n_helpers_ + 1 < n_cores_ ? looking_time : std::chrono::microseconds{0});
        try {
            std::thread([place = helper.get()] {
                leave_signals_to_others();
                place->run();
            }).detach();
        } catch (const std::system_error&) {
            return false;
        }
        *end_ = helper.get();
        end_ = &helper.release()->next;
        ++n_helpers_;
        return true;
    }

    std::atomic<Helper*> first_{nullptr};
    std::mutex growing_;
    std::atomic<Helper*>* end_ = &first_;
    std::atomic<std::size_t> n_helpers_{0};
    const std::size_t n_cores_ = std::max(1U, std::thread::hardware_concurrency());
};

/// Help with a call: no helper knows the call any more once this ends, however it ends.
class Help {
  public:
    Help(Team& team, Call& call) : team_(team), call_(call) {}
    ~Help() {
        call_.end();
        wait([] {});
    }
    Help(const Help&) = delete;
    Help& operator=(const Help&) = delete;

    void ask_for(std::size_t n_helpers) {
        call_.prepare_for_helpers();
        team_.offer(call_, n_helpers);
    }

    /// Waits for those who have begun. They hear of an interrupt by the watch, but someone has to ask it.
    void wait() {
        wait([&] {
            if (is_stopped()) call_.end();
        });
        if (!team_.is_abandoned()) return;
        team_.for_each([&](const Helper& helper) {
            if (helper.is_at(call_)) throw std::runtime_error("a task has forked the process; tasks of other threads are lost");
        });
    }

  private:
    /// Asks the question now and then.
    template <class Ask>
    void wait(const Ask& ask) {
        team_.for_each([&](Helper& helper) { helper.withdraw(call_); });
        team_.for_each([&](Helper& helper) {
            const auto has_left = [&] { return !helper.is_at(call_); };
            if (spin(looking_time, has_left)) return;
            while (!team_.is_abandoned() && !helper.wait_until_left(call_)) ask();
        });
    }

    Team& team_;
    Call& call_;
};

}  // namespace

Interruptible::Interruptible(Interrupt interrupt)
    : watch_(std::make_unique<StopWatch>(std::move(interrupt))), outer_(std::exchange(present_watch, watch_.get())) {}

Interruptible::~Interruptible() { present_watch = outer_; }

void check_stop() {
    if (is_stopped()) throw Interrupted();
}

void parallel_for(std::size_t n_tasks, std::size_t n_threads, const std::function<void(std::size_t)>& task) {
    Call call(n_tasks, task);
    const std::size_t n_useful = std::min(n_threads, n_tasks);
    if (n_useful <= 1) {
        call.work();
        return call.rethrow();
    }
    {
        Help help(Team::of_process(), call);
        help.ask_for(n_useful - 1);
        call.work();
        help.wait();
    }
    call.rethrow();
    check_stop();
}

}  // namespace spinney
