#include <algorithm>
#include <exception>
#include <iostream>
#include <span>
#include <string_view>

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

/// Whether the name of a test has one of the words in it, or there are none.
bool is_wanted(const Test& test, std::span<char*> words) {
    return words.empty() ||
           std::ranges::any_of(words, [&](std::string_view word) { return test.name.find(word) != std::string_view::npos; });
}

}  // namespace

void fail(const std::string& what, const std::source_location& where) {
    constexpr std::size_t most_shown = 5;
    if (++n_broken <= most_shown) std::cout << where.file_name() << ':' << where.line() << ": " << what << '\n';
}

}  // namespace spinney::test

/// Runs all tests, or those whose names have one of the given words.
int main(int n_arguments, char** arguments) {
    using namespace spinney::test;
    const std::span<char*> words(arguments + 1, static_cast<std::size_t>(n_arguments) - 1);
    std::size_t n_passed = 0;
    std::size_t n_failed = 0;
    for (const auto& tests :
         {simd_tests(),        same_bits_tests(),  parallel_tests(),    powers_tests(),      readout_tests(),
          route_tests(),       forest_tests(),     gains_tests(),       solver_tests(),      leaf_tests(),
          leaf_design_tests(), leaf_lasso_tests(), leaf_system_tests(), care_points_tests(), optimizer_tests(),
          grow_tests(),        grow_codes_tests(), extend_tests(),      codes_tests(),       histogram_tests()})
        for (const Test& test : tests)
            if (is_wanted(test, words)) ++(passes(test) ? n_passed : n_failed);
    std::cout << n_passed << " passed, " << n_failed << " failed\n";
    return n_failed == 0 ? 0 : 1;
}
