#include "spinney/grow/sample_codes.hpp"

#include <algorithm>
#include <array>

#include "grow/code_scratch.hpp"
#include "spinney/table/edges.hpp"

namespace spinney {
namespace {

bool has_missing(const Codes& codes, std::size_t column, std::span<const std::uint32_t> members) {
    return std::ranges::any_of(members, [&](std::uint32_t row) { return codes.at(row, column) == missing_code; });
}

/// Whether every level of the members, and every missing value, has a coordinate that may be read.
bool tells_levels(const CodedColumns& coded, std::size_t column, std::span<const std::uint32_t> members,
                  std::span<const std::uint8_t> is_read) {
    const TableColumn& of_table = coded.columns[column];
    std::array<bool, 256> is_present{};
    for (std::uint32_t row : members) is_present[coded.codes.at(row, column)] = true;
    for (std::size_t level = 0; level < of_table.n_levels; ++level)
        if (is_present[level] && is_read[of_table.first + level] == 0) return false;
    return !is_present[missing_code] || is_read[static_cast<std::size_t>(of_table.flag)] != 0;
}

bool tells_numbers(const CodedColumns& coded, std::size_t column, std::span<const std::uint32_t> members,
                   std::span<const std::uint8_t> is_read) {
    const TableColumn& of_table = coded.columns[column];
    if (is_read[of_table.first] == 0) return false;
    if (of_table.flag == TableColumn::no_flag || is_read[static_cast<std::size_t>(of_table.flag)] != 0) return true;
    return !has_missing(coded.codes, column, members);
}

}  // namespace

SampleCodes::SampleCodes(const CodedColumns& coded, std::span<const std::uint32_t> coordinates,
                         std::span<const std::uint32_t> members)
    : coded_(coded), is_whole_(coded.n_columns()) {
    std::vector<std::uint8_t> is_read(coded.column_of.size());
    for (std::uint32_t coordinate : coordinates) is_read[coordinate] = 1;
    for (std::size_t column = 0; column < coded.n_columns(); ++column) {
        const TableColumn& of_table = coded.columns[column];
        are_plain_ = are_plain_ && of_table.is_number() && of_table.flag == TableColumn::no_flag && of_table.first == column;
        const bool is_told =
            of_table.is_number() ? tells_numbers(coded, column, members, is_read) : tells_levels(coded, column, members, is_read);
        is_whole_[column] = is_told ? 1 : 0;
    }
}

SampleCodes::~SampleCodes() = default;

std::unique_ptr<CodeScratch> SampleCodes::lend() const {
    {
        const std::scoped_lock lock(mutex_);
        if (!idle_.empty()) {
            auto scratch = std::move(idle_.back());
            idle_.pop_back();
            return scratch;
        }
    }
    return std::make_unique<CodeScratch>();
}

/// What a search left unfinished is not given back, but freed.
void SampleCodes::take_back(std::unique_ptr<CodeScratch> scratch) const {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(scratch));
}

}  // namespace spinney
