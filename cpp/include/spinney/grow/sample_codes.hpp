#pragma once
/// Codes of a table as one growing tree searches them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "spinney/table/training_table.hpp"

namespace spinney {

/// Memory of a search, kept from node to node. Between two of them all sums and flags are zero.
struct CodeScratch;

class SampleCodes {
  public:
    /// `coordinates` are those that the tree may read, ascending; `members` its rows.
    SampleCodes(const CodedColumns& coded, std::span<const std::uint32_t> coordinates, std::span<const std::uint32_t> members);
    ~SampleCodes();
    SampleCodes(const SampleCodes&) = delete;
    SampleCodes& operator=(const SampleCodes&) = delete;

    [[nodiscard]] const CodedColumns& coded() const { return coded_; }
    /// Whether the tree may read all coordinates that tell the values of a column apart. If not, those it may read are searched
    /// one by one.
    [[nodiscard]] bool is_whole(std::size_t column) const { return is_whole_[column] != 0; }
    /// Whether a coordinate is a column.
    [[nodiscard]] bool are_plain() const { return are_plain_; }

    /// Scratch that nobody else uses, until it is given back.
    [[nodiscard]] std::unique_ptr<CodeScratch> lend() const;
    void take_back(std::unique_ptr<CodeScratch> scratch) const;

  private:
    const CodedColumns& coded_;
    std::vector<std::uint8_t> is_whole_;
    bool are_plain_ = true;
    mutable std::mutex mutex_;  ///< of what follows
    mutable std::vector<std::unique_ptr<CodeScratch>> idle_;
};

}  // namespace spinney
