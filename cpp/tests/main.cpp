#include <exception>
#include <iostream>

#include "check.hpp"

namespace spinney::test {
namespace {

std::size_t n_broken = 0;  // claims broken by the running test

bool passes(const Test& test) {
    n_broken = 0;
    try {
        test.run();
    } catch (const std::exception& error) {
        fail(std::string("threw ") + error.what(), std::source_location::current());
    }
    if (n_broken > 0) std::cout << "FAILED " << test.name << '\n';
    return n_broken == 0;
}

}  // namespace

void fail(const std::string& what, const std::source_location& where) {
    constexpr std::size_t most_shown = 5;
    if (++n_broken <= most_shown) std::cout << where.file_name() << ':' << where.line() << ": " << what << '\n';
}

}  // namespace spinney::test

int main() {
    using namespace spinney::test;
    std::size_t n_passed = 0;
    std::size_t n_failed = 0;
    for (const auto& tests :
         {simd_tests(), parallel_tests(), powers_tests(), readout_tests(), route_tests(), forest_tests(), gains_tests(), solver_tests(), leaf_tests(), leaf_lasso_tests(), leaf_system_tests(), optimizer_tests(),
          grow_tests(), extend_tests()})
        for (const Test& test : tests) ++(passes(test) ? n_passed : n_failed);
    std::cout << n_passed << " passed, " << n_failed << " failed\n";
    return n_failed == 0 ? 0 : 1;
}
