#pragma once
/// x log x, looked up where x is a small whole number: weights are mostly counts of rows.

#include <cmath>
#include <cstddef>
#include <span>

namespace spinney {

inline constexpr std::size_t n_known_logs = std::size_t{1} << 14U;

/// x log x of 0, 1, 2, ..., n_known_logs - 1.
[[nodiscard]] std::span<const double, n_known_logs> known_x_log_x();

[[nodiscard]] inline double x_log_x(double x, const double* known) {
    if (!(x > 0.0)) return 0.0;
    if (x < static_cast<double>(n_known_logs)) {
        const auto whole = static_cast<std::size_t>(x);
        if (static_cast<double>(whole) == x) return known[whole];
    }
    return x * std::log(x);
}

/// x log x for any weights, or for whole numbers below n_known_logs alone.
template <bool is_whole>
class XLogX {
  public:
    XLogX() : known_(known_x_log_x().data()) {}
    [[nodiscard]] double operator()(double x) const {
        if constexpr (is_whole)
            return known_[static_cast<std::size_t>(x)];
        else
            return x_log_x(x, known_);
    }

  private:
    const double* known_;
};

}  // namespace spinney
