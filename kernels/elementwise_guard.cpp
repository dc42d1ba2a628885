#include "kernels/elementwise_guard.h"

#include <optional>
#include <string_view>

#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

struct Named {
  std::string_view name;
  const DLTensor& tensor;
};

std::string quoted(const Named& named, std::string_view rest) {
  return std::string(named.name) + " " + std::string(rest);
}

bool same_shape(const DLTensor& a, const DLTensor& b) {
  if (a.ndim != b.ndim) return false;
  for (int axis = 0; axis < a.ndim; ++axis)
    if (a.shape[axis] != b.shape[axis]) return false;
  return true;
}

bool overlap(const DLTensor& a, const DLTensor& b) {
  const auto* const a_begin = data_of(a);
  const auto* const b_begin = data_of(b);
  return a_begin < b_begin + element_count(b) && b_begin < a_begin + element_count(a);
}

// What must hold of one tensor for itself.
Applicability check_tensor(const Named& named, int vector_bytes) {
  const DLTensor& tensor = named.tensor;
  if (!half_type(tensor)) return {quoted(named, "is neither bf16 nor fp16")};
  if (tensor.ndim < 1) return {quoted(named, "has rank 0; rank 1 or more is needed")};
  for (int axis = 0; axis < tensor.ndim - 1; ++axis)
    if (tensor.shape[axis] <= 0) return {quoted(named, "has no rows: its shape is " + shape_text(tensor))};
  if (tensor.shape[tensor.ndim - 1] <= 0)
    return {quoted(named, "has a width that is not positive: its shape is " + shape_text(tensor))};
  if (tensor.data == nullptr) return {quoted(named, "has no data")};
  if (!is_contiguous(tensor)) return {quoted(named, "is not contiguous (row-major without gaps)")};
  if (reinterpret_cast<std::uintptr_t>(data_of(tensor)) % static_cast<unsigned>(vector_bytes) != 0)
    return {quoted(named, "is not aligned to the vector of " + std::to_string(vector_bytes) + " bytes")};
  return {};
}

}  // namespace

RowsByWidth rows_by_width(const DLTensor& tensor) {
  const std::int64_t width = tensor.shape[tensor.ndim - 1];
  return {.rows = element_count(tensor) / width, .width = width};
}

Applicability can_use_rowwise(const DLTensor& input, const DLTensor* bias, const DLTensor& output,
                              int vector_bytes) {
  const Named named_input{"input", input};
  const Named named_output{"output", output};
  if (Applicability answer = check_tensor(named_input, vector_bytes); !answer) return answer;
  if (Applicability answer = check_tensor(named_output, vector_bytes); !answer) return answer;
  if (!same_shape(input, output))
    return {"output has shape " + shape_text(output) + ", input " + shape_text(input) + "; they must be equal"};
  if (half_type(input) != half_type(output)) return {"input and output differ in dtype"};
  if (input.device.device_type != output.device.device_type ||
      input.device.device_id != output.device.device_id)
    return {"input and output are on different devices"};

  const std::int64_t width = input.shape[input.ndim - 1];
  const std::int64_t vector_elements = vector_bytes / 2;
  if (width % vector_elements != 0)
    return {"width " + std::to_string(width) + " is not a multiple of the vector's " +
            std::to_string(vector_elements) + " elements"};
  if (overlap(input, output) && data_of(input) != data_of(output))
    return {"output overlaps input without being it exactly"};
  if (bias == nullptr) return {};

  if (Applicability answer = check_tensor({"bias", *bias}, vector_bytes); !answer) return answer;
  if (half_type(*bias) != half_type(input)) return {"input and bias differ in dtype"};
  if (bias->ndim != 1) return {"bias has rank " + std::to_string(bias->ndim) + "; rank 1 is needed"};
  if (bias->shape[0] != width)
    return {"bias has length " + std::to_string(bias->shape[0]) + ", the width is " + std::to_string(width)};
  if (bias->device.device_type != input.device.device_type || bias->device.device_id != input.device.device_id)
    return {"input and bias are on different devices"};
  if (overlap(*bias, output)) return {"output overlaps bias"};
  return {};
}

}  // namespace bitproof::kernels
