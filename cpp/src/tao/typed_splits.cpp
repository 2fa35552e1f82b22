#include "spinney/tao/typed_splits.hpp"

namespace spinney {

ShortPlane ShortPlane::of(std::span<const float> w) {
    ShortPlane plane;
    for (std::size_t j = 0; j < w.size(); ++j) {
        if (w[j] == 0.0F) continue;
        if (plane.size == most) {
            plane.size = too_many;
            return plane;
        }
        plane.columns[plane.size] = static_cast<std::uint32_t>(j);
        plane.weights[plane.size++] = w[j];
    }
    return plane;
}

void TypedSplits::take(const SplitTable& table, std::size_t width) {
    planes_.assign(table.bias.size(), {});
    n_long_ = 0;
    for (std::size_t split = 0; split < planes_.size(); ++split)
        take(split, std::span(table.weights).subspan(split * width, width));
}

void TypedSplits::take(std::size_t split, std::span<const float> w) {
    n_long_ -= planes_[split].is_short() ? 0 : 1;
    planes_[split] = ShortPlane::of(w);
    n_long_ += planes_[split].is_short() ? 0 : 1;
}

}  // namespace spinney
