#pragma once
/// Memory of a search over codes.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spinney {

/// A bin that may hold a better cut than all that are known.
struct Promise {
    double bound;
    std::uint8_t bin;
    bool is_missing_right;
    std::size_t left;  ///< where the sums of all that is left of the bin are kept
};

/// The promises of a column: first .. last - 1.
struct PromisingColumn {
    double bound;
    std::size_t column, order, first, last;
};

/// An entry whose column is looked at by value.
struct CodedEntry {
    std::uint64_t key;  ///< value above, number of the entry below; at first the number alone
    std::uint8_t code;
};

struct CodeScratch {
    std::vector<double> sums;           ///< of the bins of the columns of a group; zero
    std::vector<std::uint8_t> present;  ///< whether a bin of theirs has entries; zero
    std::vector<std::uint32_t> labels, label_of_class;
    std::vector<double> totals, left_sums;
    std::vector<std::uint32_t> drawn;
    std::vector<std::uint8_t> is_tried;  ///< of each column; zero
    std::vector<Promise> promises;
    std::vector<PromisingColumn> promising;
    std::vector<CodedEntry> entries;
};

}  // namespace spinney
