#include "spinney/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace spinney {

bool parallel_for(std::size_t n_tasks, std::size_t n_threads, const std::function<void(std::size_t)>& task,
                  const Interrupt& interrupt) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    std::atomic<bool> interrupted{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;

    const auto work = [&](bool is_caller) {
        try {
            while (!stop.load(std::memory_order_relaxed)) {
                if (is_caller && interrupt && interrupt()) {
                    interrupted = true;
                    stop = true;
                    return;
                }
                const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
                if (index >= n_tasks) return;
                task(index);
            }
        } catch (...) {
            const std::scoped_lock lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };

    const std::size_t n_helpers = std::min(n_threads, n_tasks) > 1 ? std::min(n_threads, n_tasks) - 1 : 0;
    {
        std::vector<std::jthread> helpers;
        helpers.reserve(n_helpers);
        for (std::size_t i = 0; i < n_helpers; ++i) helpers.emplace_back(work, false);
        work(true);
    }
    if (failure) std::rethrow_exception(failure);
    return !interrupted;
}

}  // namespace spinney
