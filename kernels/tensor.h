// What the kernels ask of a DLPack tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <dlpack/dlpack.h>

namespace bitproof::kernels {

// The two 16-bit formats served.
enum class HalfType { bf16, fp16 };

// The type of the tensor's elements, if it is one of the two.
std::optional<HalfType> half_type(const DLTensor& tensor);

// Address of the first element, byte_offset included.
inline std::uint16_t* data_of(const DLTensor& tensor) {
  return reinterpret_cast<std::uint16_t*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
}

// Row-major without gaps; DLPack's null strides mean exactly that.
bool is_contiguous(const DLTensor& tensor);

// Elements from one row to the next of a tensor of rank 2.
inline std::int64_t row_stride(const DLTensor& tensor) {
  return tensor.strides == nullptr || tensor.shape[0] == 1 ? tensor.shape[1] : tensor.strides[0];
}

std::int64_t element_count(const DLTensor& tensor);

// "[3, 4096]"
std::string shape_text(const DLTensor& tensor);

}  // namespace bitproof::kernels
