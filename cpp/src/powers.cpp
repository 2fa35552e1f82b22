#include "spinney/powers.hpp"

#include <bit>
#include <cstdint>
#include <numbers>

#include "spinney/simd.hpp"

namespace spinney {

double log_positive(double x) {
    constexpr double ln2_high = 0.693147180369123816490;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52U) - 1U;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    double exponent = static_cast<double>(bits >> 52U) - 1023.0;
    double mantissa = std::bit_cast<double>((bits & fraction) | (std::uint64_t{1023} << 52U));
    if (mantissa > std::numbers::sqrt2) {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // log(m) = 2 atanh(s), of which s^2 is below 0.03, so that eleven terms are enough.
    const double s = (mantissa - 1.0) / (mantissa + 1.0);
    double series = 0.0;
    for (int k = 21; k >= 1; k -= 2) series = series * (s * s) + 1.0 / k;
    return exponent * ln2_high + (exponent * ln2_low + 2.0 * s * series);
}

void power_shares(std::span<double> votes, double shift, double slope) {
    for (double& vote : votes) vote = slope * log_positive(vote + shift);
    kernels().softmax(votes);
}

}  // namespace spinney
