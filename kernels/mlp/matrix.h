// A 16-bit matrix or vector in somebody else's memory, with the shape that its DLPack description points to.
#pragma once

#include <array>
#include <cstdint>

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/tensor.h"

namespace bitproof::kernels {

class Matrix {
 public:
  // [rows, width], contiguous.
  Matrix(void* data, HalfType dtype, DLDevice device, std::int64_t rows, std::int64_t width)
      : data_(data), dtype_(dtype), device_(device), shape_{rows, width} {}

  // Of a contiguous bf16 or fp16 tensor of rank 1 or more; a vector is one row.
  explicit Matrix(const DLTensor& tensor)
      : Matrix(data_of(tensor), *half_type(tensor), tensor.device, rows_by_width(tensor).rows,
               rows_by_width(tensor).width) {}

  // Valid as long as this object is, and stays where it is.
  DLTensor tensor() const { return described(shape_.data(), 2); }
  // [width], of the first row.
  DLTensor vector() const { return described(shape_.data() + 1, 1); }

  std::uint16_t* data() const { return static_cast<std::uint16_t*>(data_); }
  HalfType dtype() const { return dtype_; }
  DLDevice device() const { return device_; }
  std::int64_t rows() const { return shape_[0]; }
  std::int64_t width() const { return shape_[1]; }
  std::int64_t count() const { return shape_[0] * shape_[1]; }

 private:
  DLTensor described(const std::int64_t* shape, int rank) const {
    return {.data = data_,
            .device = device_,
            .ndim = rank,
            .dtype = {static_cast<std::uint8_t>(dtype_ == HalfType::bf16 ? kDLBfloat : kDLFloat), 16, 1},
            .shape = const_cast<std::int64_t*>(shape),  // DLPack's descriptions do not say const
            .strides = nullptr,
            .byte_offset = 0};
  }

  void* data_;
  HalfType dtype_;
  DLDevice device_;
  std::array<std::int64_t, 2> shape_;
};

}  // namespace bitproof::kernels
