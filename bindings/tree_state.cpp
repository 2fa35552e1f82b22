#include "tree_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace spinney::python {
namespace {

/// Rank of each leaf, in node order.
std::vector<std::size_t> ranks_in_node_order(const Topology& topology) {
    std::vector<std::size_t> rank;
    for (std::size_t node = 0; node < topology.n_nodes(); ++node)
        if (topology.is_leaf(node)) rank.push_back(topology.first_leaf[node]);
    return rank;
}

/// Rows of `ranked` (by leaf rank) in the order of the leaf nodes, and back.
template <class T>
std::vector<T> reorder_leaves(const Topology& topology, std::span<const T> table, bool to_node_order) {
    const std::vector<std::size_t> rank = ranks_in_node_order(topology);
    const std::size_t size = table.size() / rank.size();
    std::vector<T> out(table.size());
    for (std::size_t r = 0; r < rank.size(); ++r) {
        const std::size_t from = to_node_order ? rank[r] : r;
        const std::size_t to = to_node_order ? r : rank[r];
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(from * size), size,
                    out.begin() + static_cast<std::ptrdiff_t>(to * size));
    }
    return out;
}

/// How wide the hyperplanes of a task are for Python, and how wide in the core, where they may be padded.
struct Widths {
    std::size_t n_features, padded;
    explicit Widths(const Optimizer& self) : n_features(self.n_features()), padded(self.width()) {}
};

struct Csr {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> values;

    void add_row(std::span<const float> full) {
        add_row_if(full, [](float x) { return x != 0.0F; });
    }
    /// Leaves out positive zeros alone, so that the row can be restored to the bit.
    void add_exact_row(std::span<const float> full) {
        add_row_if(full, [](float x) { return std::bit_cast<std::uint32_t>(x) != 0; });
    }
    template <class IsKept>
    void add_row_if(std::span<const float> full, const IsKept& is_kept) {
        for (std::size_t j = 0; j < full.size(); ++j)
            if (is_kept(full[j])) {
                indices.push_back(static_cast<std::int32_t>(j));
                values.push_back(full[j]);
            }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    [[nodiscard]] NumpyCsr to_python() && {
        return {to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(values))};
    }
};

/// The columns of full rows as CSR, to the bit.
Csr exact_rows(std::span<const float> full, const Widths& widths) {
    Csr csr;
    for (std::size_t first = 0; first < full.size(); first += widths.padded)
        csr.add_exact_row(full.subspan(first, widths.n_features));
    return csr;
}

ExactState exact_state(const TreeState& state, const Widths& widths, std::vector<std::uint8_t> fitted) {
    return {to_numpy(std::vector<double>(state.splits.bias)), exact_rows(state.splits.weights, widths).to_python(),
            to_numpy(std::vector<double>(state.leaves.values)), exact_rows(state.leaves.weights, widths).to_python(),
            to_numpy(std::move(fitted))};
}

[[noreturn]] void refuse_state(const std::string& what) {
    throw std::invalid_argument("the given state does not fit this task: " + what);
}

[[noreturn]] void refuse_leaves() { throw std::invalid_argument("the given leaves do not fit this task"); }

/// The full rows of a CSR; throws unless it has so many rows and every entry is in place and finite.
std::vector<float> full_rows(const CsrArrays& csr, std::size_t n_rows, const Widths& widths) {
    const auto indptr = span_of(std::get<0>(csr));
    const auto indices = span_of(std::get<1>(csr));
    const auto values = span_of(std::get<2>(csr));
    if (indptr.size() != n_rows + 1 || indices.size() != values.size() || indptr.front() != 0 ||
        indptr.back() != static_cast<std::int64_t>(indices.size()) || !std::ranges::is_sorted(indptr))
        refuse_state("its hyperplanes have other sizes");
    std::vector<float> full(n_rows * widths.padded);
    for (std::size_t row = 0; row < n_rows; ++row)
        for (auto k = static_cast<std::size_t>(indptr[row]); k < static_cast<std::size_t>(indptr[row + 1]); ++k) {
            if (indices[k] < 0 || static_cast<std::size_t>(indices[k]) >= widths.n_features)
                refuse_state("a feature is out of range");
            if (!std::isfinite(values[k])) refuse_state("a weight is not finite");
            full[row * widths.padded + static_cast<std::size_t>(indices[k])] = values[k];
        }
    return full;
}

/// Full rows as the core keeps them.
std::vector<float> padded_rows(std::span<const float> full, const Widths& widths) {
    std::vector<float> padded(full.size() / widths.n_features * widths.padded);
    for (std::size_t from = 0, to = 0; from < full.size(); from += widths.n_features, to += widths.padded)
        std::ranges::copy(full.subspan(from, widths.n_features), padded.begin() + static_cast<std::ptrdiff_t>(to));
    return padded;
}

/// Constant leaves that were given in node order.
LeafTable constant_leaves(const Optimizer& self, const Matrix<double>& values) {
    if (values.size() != self.state().leaves.values.size()) refuse_leaves();
    return {reorder_leaves<double>(self.topology(), {values.data(), values.size()}, false), {}};
}

void check_size(const Optimizer& self, std::size_t n_numbers) {
    if (n_numbers != self.n_rows())
        throw std::invalid_argument(std::to_string(n_numbers) + " leaf numbers; give one for each of the " +
                                    std::to_string(self.n_rows()) + " rows");
}

template <class Number>
void check_numbers(std::span<const Number> numbers, std::size_t n_leaves) {
    const auto most = std::ranges::max_element(numbers);
    if (most != numbers.end() && *most >= n_leaves)
        throw std::invalid_argument("leaf number " + std::to_string(*most) + " is out of range; this tree has " +
                                    std::to_string(n_leaves) + " leaves");
}

std::vector<double> finite_values(const Vector<double>& values, std::size_t size) {
    const auto given = span_of(values);
    if (given.size() != size)
        refuse_state("it has " + std::to_string(given.size()) + " numbers where " + std::to_string(size) + " belong");
    if (!std::ranges::all_of(given, [](double x) { return std::isfinite(x); })) refuse_state("a number is not finite");
    return {given.begin(), given.end()};
}

}  // namespace

std::tuple<Numpy<double>, NumpyCsr> splits_of(const Optimizer& self) {
    const auto& topology = self.topology();
    const auto& table = self.state().splits;
    const Widths widths(self);
    Csr csr;
    std::vector<double> bias(topology.n_nodes());
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) {
        if (topology.is_leaf(node)) {
            csr.add_row({});
            continue;
        }
        const auto split = static_cast<std::size_t>(topology.split_of_node[node]);
        csr.add_row({table.weights.data() + split * widths.padded, widths.n_features});
        bias[node] = table.bias[split];
    }
    return {to_numpy(std::move(bias)), std::move(csr).to_python()};
}

std::tuple<Numpy<double>, NumpyCsr> leaves_of(const Optimizer& self) {
    const auto& topology = self.topology();
    const auto& table = self.state().leaves;
    const std::size_t n_outputs = table.values.size() / topology.n_leaves();
    auto values = reorder_leaves<double>(topology, table.values, true);
    const auto weights = reorder_leaves<float>(topology, table.weights, true);
    Csr csr;
    const std::size_t n_rows = topology.n_leaves() * n_outputs;
    const Widths widths(self);
    for (std::size_t row = 0; row < n_rows; ++row)
        csr.add_row(weights.empty() ? std::span<const float>()
                                    : std::span(weights).subspan(row * widths.padded, widths.n_features));
    return {to_numpy(std::move(values), {topology.n_leaves(), n_outputs}), std::move(csr).to_python()};
}

void set_tree(Optimizer& self, const Vector<double>& bias, const Vector<std::int64_t>& indptr,
              const Vector<std::int32_t>& indices, const Vector<float>& weights, const Matrix<double>& leaf_values,
              const Matrix<float>& leaf_weights) {
    const auto& topology = self.topology();
    const Widths widths(self);
    check_tree(
        {topology.left, topology.right, span_of(bias), span_of(indptr), span_of(indices), span_of(weights), widths.n_features});
    SplitTable table{std::vector<float>(topology.n_splits * widths.padded), std::vector<double>(topology.n_splits)};
    for (std::size_t node = 0; node < topology.n_nodes(); ++node) {
        if (topology.is_leaf(node)) continue;
        const auto split = static_cast<std::size_t>(topology.split_of_node[node]);
        table.bias[split] = bias.data()[node];
        for (auto k = indptr.data()[node]; k < indptr.data()[node + 1]; ++k)
            table.weights[split * widths.padded + static_cast<std::size_t>(indices.data()[k])] = weights.data()[k];
    }
    const auto& present = self.state().leaves;
    LeafTable leaves;
    if (leaf_values.size() > 0) {
        if (leaf_values.size() != present.values.size() ||
            leaf_weights.size() != present.weights.size() / widths.padded * widths.n_features)
            refuse_leaves();
        const auto weights_by_rank = reorder_leaves<float>(topology, {leaf_weights.data(), leaf_weights.size()}, false);
        leaves = {reorder_leaves<double>(topology, {leaf_values.data(), leaf_values.size()}, false),
                  padded_rows(weights_by_rank, widths)};
    }
    self.run([&](auto& tree) { tree.set_splits(std::move(table), std::move(leaves)); });
}

void set_leaves(Optimizer& self, const Matrix<double>& values) {
    LeafTable table = constant_leaves(self, values);
    self.run([&](auto& tree) { tree.set_leaves(std::move(table)); });
}

void write_leaf_numbers(Optimizer& self, const AnyNumbers<WritableVector>& out) {
    const std::vector<std::size_t> rank = ranks_in_node_order(self.topology());
    const auto write = [&]<class Number>(const WritableVector<Number>& numbers) {
        check_size(self, numbers.shape(0));
        if (rank.size() - 1 > std::numeric_limits<Number>::max())
            throw std::invalid_argument("the numbers of " + std::to_string(rank.size()) + " leaves do not fit into " +
                                        std::to_string(8 * sizeof(Number)) + " bits; give a wider array");
        std::vector<Number> number_of(rank.size());
        for (std::size_t r = 0; r < rank.size(); ++r) number_of[rank[r]] = static_cast<Number>(r);
        self.run([&](auto& tree) {
            const auto leaf_of = tree.leaf_of();
            std::fill_n(numbers.data(), numbers.shape(0), Number{0});
            for (std::uint32_t row : tree.members()) numbers.data()[row] = number_of[leaf_of[row]];
        });
    };
    std::visit(write, out);
}

void take_turn(Optimizer& self, const AnyNumbers<Vector>& leaf_numbers, const Matrix<double>& values) {
    const std::vector<std::size_t> rank = ranks_in_node_order(self.topology());
    LeafTable table = constant_leaves(self, values);
    const auto take = [&]<class Number>(const Vector<Number>& given) {
        const auto numbers = span_of(given);
        check_size(self, numbers.size());
        self.run([&](auto& tree) {
            check_numbers(numbers, rank.size());
            if (std::ranges::is_sorted(rank)) return tree.take_turn(numbers, std::move(table));
            std::vector<Number> ranks(numbers.size());
            std::ranges::transform(numbers, ranks.begin(), [&](Number number) { return static_cast<Number>(rank[number]); });
            tree.take_turn(std::span<const Number>(ranks), std::move(table));
        });
    };
    std::visit(take, leaf_numbers);
}

ExactState present_state(const Optimizer& self) {
    const auto fitted = self.fitted();
    return exact_state(self.state(), Widths(self), {fitted.begin(), fitted.end()});
}

ExactState kept_state(const Optimizer& self) {
    // What was kept counts as fitted once it is restored.
    return exact_state(self.kept(), Widths(self), std::vector<std::uint8_t>(self.fitted().size(), 1));
}

void set_state(Optimizer& self, const Vector<double>& bias, const CsrArrays& splits, const Vector<double>& leaf_values,
               const CsrArrays& leaf_weights, const Vector<std::uint8_t>& fitted) {
    const Widths widths(self);
    const auto& present = self.state().leaves;
    const auto flags = span_of(fitted);
    if (flags.size() != self.fitted().size()) refuse_state("it has flags of other leaves");
    const std::size_t n_splits = self.topology().n_splits;
    SplitTable table{full_rows(splits, n_splits, widths), finite_values(bias, n_splits)};
    LeafTable leaves{finite_values(leaf_values, present.values.size()),
                     full_rows(leaf_weights, present.weights.size() / widths.padded, widths)};
    self.run([&](auto& tree) { tree.resume(std::move(table), std::move(leaves), flags); });
}

}  // namespace spinney::python
