#pragma once
/// Arrays across the boundary: the one place where ownership changes hands.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace spinney::python {

namespace nb = nanobind;

/// Read-only, contiguous input of one or two dimensions.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Contiguous output that the caller made.
template <class T>
using WritableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using WritableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Numbers of leaves in arrays of three types.
template <template <class> class Array>
using AnyNumbers = std::variant<Array<std::uint8_t>, Array<std::uint16_t>, Array<std::uint32_t>>;

/// An argument of such arrays. Another type or order is refused: nanobind would copy it without a word, which for rows
/// takes as much memory again, and what Python writes into the original later would never be seen.
[[nodiscard]] inline auto array_arg(const char* name) { return nb::arg(name).noconvert(); }

template <class T>
[[nodiscard]] std::span<const T> span_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// Hands a vector to Python as a numpy array that owns it.
template <class T>
[[nodiscard]] nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));  // freed by the capsule
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

/// The same for numbers that nobody has set to zero: threads that fill them find the memory themselves.
template <class T>
[[nodiscard]] nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> values, std::size_t size) {
    T* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(data, {size}, owner);
}

template <class T>
[[nodiscard]] nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

}  // namespace spinney::python
