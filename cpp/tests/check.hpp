#pragma once
/// The smallest test frame that does the job: a test is a named function, a claim is a call.

#include <cmath>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace spinney::test {

struct Test {
    std::string_view name;
    void (*run)();
};

/// Notes a broken claim of the running test; the test goes on.
void fail(const std::string& what, const std::source_location& where);

inline void expect(bool is_true, std::string_view claim, const std::source_location& where = std::source_location::current()) {
    if (!is_true) fail(std::string(claim), where);
}

template <class A, class B>
void expect_equal(const A& found, const B& wanted, std::string_view claim,
                  const std::source_location& where = std::source_location::current()) {
    if (!(found == wanted)) fail(std::string(claim), where);
}

inline void expect_near(double found, double wanted, double tolerance, std::string_view claim,
                        const std::source_location& where = std::source_location::current()) {
    if (std::fabs(found - wanted) <= tolerance) return;
    fail(std::string(claim) + ": " + std::to_string(found) + " is not near " + std::to_string(wanted), where);
}

template <class Error, class Call>
void expect_throw(const Call& call, std::string_view claim, const std::source_location& where = std::source_location::current()) {
    try {
        call();
    } catch (const Error&) {
        return;
    }
    fail(std::string(claim), where);
}

// One list of tests a file.
std::vector<Test> care_points_tests();
std::vector<Test> codes_tests();
std::vector<Test> extend_tests();
std::vector<Test> forest_tests();
std::vector<Test> gains_tests();
std::vector<Test> grow_tests();
std::vector<Test> grow_codes_tests();
std::vector<Test> histogram_tests();
std::vector<Test> leaf_tests();
std::vector<Test> leaf_design_tests();
std::vector<Test> leaf_lasso_tests();
std::vector<Test> leaf_system_tests();
std::vector<Test> optimizer_tests();
std::vector<Test> parallel_tests();
std::vector<Test> powers_tests();
std::vector<Test> readout_tests();
std::vector<Test> route_tests();
std::vector<Test> same_bits_tests();
std::vector<Test> simd_tests();
std::vector<Test> solver_tests();

}  // namespace spinney::test
