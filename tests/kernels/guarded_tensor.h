// A 16-bit tensor on the CPU between guard bands, whose description a test may bend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <dlpack/dlpack.h>

#include "reference/half.h"

namespace bitproof::kernels::test {

inline constexpr DLDataType kBf16{kDLBfloat, 16, 1};
inline constexpr DLDataType kFp16{kDLFloat, 16, 1};

template <reference::Half T>
constexpr DLDataType dtype_of() {
  return T::kDtype == reference::Dtype::bf16 ? kBf16 : kFp16;
}

// A NaN that no kernel returns.
inline constexpr std::uint16_t kUntouched = 0xFFA5;

// Row-major with null strides, 256-byte aligned, every element and both guard bands kUntouched.
class GuardedTensor {
 public:
  explicit GuardedTensor(std::vector<std::int64_t> shape, DLDataType dtype = kBf16)
      : shape_(std::move(shape)), size_(count(shape_)), storage_(size_ + 3 * kBand, kUntouched) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data() + kBand);
    first_ = kBand + (kAlignment - address % kAlignment) % kAlignment / sizeof(std::uint16_t);
    description.data = storage_.data() + first_;
    description.device = {kDLCPU, 0};
    description.ndim = static_cast<int>(shape_.size());
    description.dtype = dtype;
    description.shape = shape_.data();
  }
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;

  void set_shape(std::vector<std::int64_t> shape) {
    shape_ = std::move(shape);
    description.shape = shape_.data();
    description.ndim = static_cast<int>(shape_.size());
  }
  void set_strides(std::vector<std::int64_t> strides) {
    strides_ = std::move(strides);
    description.strides = strides_.data();
  }

  std::span<std::uint16_t> elements() { return std::span(storage_).subspan(first_, size_); }
  // Everything, guard bands included: equal before and after means untouched.
  const std::vector<std::uint16_t>& memory() const { return storage_; }

  bool guards_are_intact() const {
    const auto is_untouched = [](std::uint16_t bits) { return bits == kUntouched; };
    const std::span<const std::uint16_t> all(storage_);
    return std::ranges::all_of(all.first(first_), is_untouched) &&
           std::ranges::all_of(all.subspan(first_ + size_), is_untouched);
  }

  DLTensor description{};

 private:
  static constexpr std::size_t kAlignment = 256;
  static constexpr std::size_t kBand = kAlignment / sizeof(std::uint16_t);

  static std::size_t count(const std::vector<std::int64_t>& shape) {
    std::size_t product = 1;
    for (const std::int64_t extent : shape) product *= static_cast<std::size_t>(extent);
    return product;
  }

  std::vector<std::int64_t> shape_, strides_;
  std::size_t size_;
  std::vector<std::uint16_t> storage_;
  std::size_t first_ = 0;
};

}  // namespace bitproof::kernels::test
