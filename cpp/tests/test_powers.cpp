#include "spinney/powers.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace spinney::test {
namespace {

void logarithms_are_those_of_the_library() {
    for (const double x :
         {1e-300, 1e-9, 0.1, 0.7071067811865475, 0.7071067811865476, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.5, 2.0, 3e5, 1e300})
        expect_near(log_positive(x), std::log(x), 2e-15 * (1.0 + std::fabs(std::log(x))), "log(" + std::to_string(x) + ")");
}

void shares_are_powers_of_shifted_votes() {
    std::vector<double> votes{0.0, 2.0, 5.5};
    power_shares(votes, 0.25, 1.7);
    std::vector<double> wanted{std::pow(0.25, 1.7), std::pow(2.25, 1.7), std::pow(5.75, 1.7)};
    const double total = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    for (std::size_t k = 0; k < votes.size(); ++k) expect_near(votes[k], wanted[k] / total, 1e-12, "power");
}

void no_share_is_zero() {
    std::vector<double> votes{0.0, 1000.0};
    power_shares(votes, 1e-3, 6.0);
    expect(votes[0] > 0.0, "a class without votes");
}

}  // namespace

std::vector<Test> powers_tests() {
    return {{"logarithms are those of the library", logarithms_are_those_of_the_library},
            {"shares are powers of shifted votes", shares_are_powers_of_shifted_votes},
            {"no share is zero", no_share_is_zero}};
}

}  // namespace spinney::test
