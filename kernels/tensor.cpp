#include "kernels/tensor.h"

namespace bitproof::kernels {

std::optional<HalfType> half_type(const DLTensor& tensor) {
  if (tensor.dtype.bits != 16 || tensor.dtype.lanes != 1) return std::nullopt;
  if (tensor.dtype.code == kDLBfloat) return HalfType::bf16;
  if (tensor.dtype.code == kDLFloat) return HalfType::fp16;
  return std::nullopt;
}

bool is_contiguous(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    // The stride of an axis of one element is never used.
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

std::int64_t element_count(const DLTensor& tensor) {
  std::int64_t count = 1;
  for (int axis = 0; axis < tensor.ndim; ++axis) count *= tensor.shape[axis];
  return count;
}

std::string shape_text(const DLTensor& tensor) {
  std::string text = "[";
  for (int axis = 0; axis < tensor.ndim; ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(tensor.shape[axis]);
  }
  return text + "]";
}

}  // namespace bitproof::kernels
