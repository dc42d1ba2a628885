// A layer whose tensors have addresses but no memory: guards look at descriptors only.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <dlpack/dlpack.h>

#include "kernels/linear_gelu/guard.h"

namespace bitproof::kernels::test {

inline constexpr DLDataType kBf16{kDLBfloat, 16, 1};
inline constexpr DLDataType kFp16{kDLFloat, 16, 1};
inline constexpr DLDataType kFp32{kDLFloat, 32, 1};
inline constexpr DLDataType kInt8{kDLInt, 8, 1};

// Owns the shape that its descriptor points to.
class Described {
 public:
  Described(std::uintptr_t address, std::vector<std::int64_t> shape, DLDataType dtype = kBf16)
      : shape_(std::move(shape)) {
    tensor_.data = reinterpret_cast<void*>(address);
    tensor_.device = {kDLCUDA, 0};
    tensor_.dtype = dtype;
    set_shape(shape_);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  void set_shape(std::vector<std::int64_t> shape) {
    shape_ = std::move(shape);
    tensor_.ndim = static_cast<int>(shape_.size());
    tensor_.shape = shape_.data();
  }

  DLTensor& operator*() { return tensor_; }
  DLTensor* operator->() { return &tensor_; }

 private:
  std::vector<std::int64_t> shape_;
  DLTensor tensor_{};
};

// x [2, 256, 3072] -> output [2, 256, 12288], everything as the guard wants it.
struct LayerFixture {
  Described weight{0x10000000, {12288, 3072}};
  Described bias{0x20000000, {12288}};
  Described x{0x30000000, {2, 256, 3072}};
  Described output{0x40000000, {2, 256, 12288}};
  LinearLayer layer{.weight = &*weight, .bias = &*bias};
};

}  // namespace bitproof::kernels::test
