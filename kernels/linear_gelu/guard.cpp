#include "kernels/linear_gelu/guard.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

// What cuBLASLt's vectorised kernels ask of every pointer and of every row.
constexpr std::int64_t kAlignmentBytes = 16;
constexpr std::int64_t kAlignedElements = kAlignmentBytes / 2;

std::string sentence(std::string_view subject, std::string_view rest) {
  return std::string(subject) + " " + std::string(rest);
}

std::string version_text(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

bool same_device(const DLTensor& a, const DLTensor& b) {
  return a.device.device_type == b.device.device_type && a.device.device_id == b.device.device_id;
}

bool overlap(const DLTensor& a, const DLTensor& b) {
  const auto begin = [](const DLTensor& tensor) { return reinterpret_cast<std::uintptr_t>(data_of(tensor)); };
  const auto end = [&](const DLTensor& tensor) {
    return begin(tensor) + static_cast<std::uintptr_t>(element_count(tensor)) * sizeof(std::uint16_t);
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

std::int64_t last_extent(const DLTensor& tensor) { return tensor.shape[tensor.ndim - 1]; }

// What must hold of one tensor for itself.
Applicability check_tensor(std::string_view subject, const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCUDA) return {sentence(subject, "is not on a CUDA device")};
  if (!half_type(tensor)) return {sentence(subject, "is neither bf16 nor fp16")};
  if (!is_contiguous(tensor)) return {sentence(subject, "is not contiguous (row-major without gaps)")};
  if (reinterpret_cast<std::uintptr_t>(data_of(tensor)) % kAlignmentBytes != 0)
    return {sentence(subject, "is not aligned to 16 bytes")};
  return {};
}

Applicability check_row_alignment(std::string_view subject, std::int64_t extent) {
  if (extent % kAlignedElements == 0) return {};
  return {sentence(
      subject, "have rows of " + std::to_string(extent) +
                   " elements, which do not all start at multiples of 16 bytes: a multiple of 8 is needed")};
}

Applicability check_weight(const LinearLayer& layer) {
  if (layer.weight == nullptr) return {"the layer has no weight"};
  if (layer.weight_quantised) return {"the weight is quantised"};
  const DLTensor& weight = *layer.weight;
  if (weight.ndim != 2) return {"the weight has rank " + std::to_string(weight.ndim) + "; [N, K] is needed"};
  if (weight.shape[0] <= 0 || weight.shape[1] <= 0)
    return {"the weight is empty: its shape is " + shape_text(weight)};
  if (Applicability answer = check_tensor("the weight", weight); !answer) return answer;
  if (Applicability answer = check_row_alignment("x and the weight", weight.shape[1]); !answer) return answer;
  return check_row_alignment("the output would", weight.shape[0]);
}

Applicability check_bias(const LinearLayer& layer) {
  if (layer.bias == nullptr) return {"the layer has no bias"};
  if (layer.bias_deferred) return {"the bias is deferred (skip_bias_add): GELU would miss it"};
  const DLTensor& bias = *layer.bias;
  if (half_type(bias) != half_type(*layer.weight)) return {"the bias is of another dtype than the weight"};
  if (bias.ndim != 1 || bias.shape[0] != layer.weight->shape[0])
    return {"the bias has shape " + shape_text(bias) + "; the weight's " +
            std::to_string(layer.weight->shape[0]) + " rows need one element each"};
  if (Applicability answer = check_tensor("the bias", bias); !answer) return answer;
  if (!same_device(bias, *layer.weight)) return {"the bias and the weight are on different devices"};
  return {};
}

// x or the output: [..., columns] on the weight's device and of its dtype.
Applicability check_operand(std::string_view subject, const DLTensor& tensor, const DLTensor& weight,
                            std::int64_t columns) {
  if (Applicability answer = check_tensor(subject, tensor); !answer) return answer;
  if (half_type(tensor) != half_type(weight)) return {sentence(subject, "is of another dtype than the weight")};
  if (!same_device(tensor, weight)) return {sentence(subject, "and the weight are on different devices")};
  if (tensor.ndim < 1 || last_extent(tensor) != columns)
    return {sentence(
        subject, "has shape " + shape_text(tensor) + "; its last extent must be " + std::to_string(columns))};
  if (element_count(tensor) <= 0) return {sentence(subject, "has no rows: its shape is " + shape_text(tensor))};
  return {};
}

bool same_leading_extents(const DLTensor& a, const DLTensor& b) {
  if (a.ndim != b.ndim) return false;
  for (int axis = 0; axis + 1 < a.ndim; ++axis)
    if (a.shape[axis] != b.shape[axis]) return false;
  return true;
}

}  // namespace

Applicability can_use_fused_linear_gelu_layer(const LinearLayer& layer, int compute_capability,
                                              const DispatchTable& table) {
  if (Applicability answer = check_weight(layer); !answer) return answer;
  if (Applicability answer = check_bias(layer); !answer) return answer;
  if (layer.output_gathered) return {"the output is gathered over several ranks before GELU"};
  const ArchitectureRule& rule = table.rule_for(compute_capability);
  if (rule.epilogue == EpilogueSpeed::slower)
    return {"on architecture " + version_text(compute_capability) +
            " the epilogue is slower than GEMM followed by GELU (" + rule.source + ")"};
  return {};
}

Applicability can_use_fused_linear_gelu_input(const LinearLayer& layer, const DLTensor& x,
                                              const DLTensor& output) {
  const DLTensor& weight = *layer.weight;
  if (Applicability answer = check_operand("x", x, weight, weight.shape[1]); !answer) return answer;
  if (Applicability answer = check_operand("the output", output, weight, weight.shape[0]); !answer)
    return answer;
  if (!same_leading_extents(x, output))
    return {"the output has shape " + shape_text(output) + ", x " + shape_text(x) +
            "; all but the last must be equal"};
  if (overlap(output, x)) return {"the output overlaps x"};
  if (overlap(output, weight)) return {"the output overlaps the weight"};
  if (layer.bias != nullptr && overlap(output, *layer.bias)) return {"the output overlaps the bias"};
  return {};
}

Applicability can_compute_linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  if (Applicability answer = check_weight(layer); !answer) return answer;
  if (Applicability answer = check_bias(layer); !answer) return answer;
  return can_use_fused_linear_gelu_input(layer, x, output);
}

Applicability can_compute_linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  if (Applicability answer = check_weight(layer); !answer) return answer;
  if (layer.bias != nullptr)
    if (Applicability answer = check_bias(layer); !answer) return answer;
  return can_use_fused_linear_gelu_input(layer, x, output);
}

Applicability can_use_fused_linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output,
                                        int compute_capability, const DispatchTable& table) {
  if (Applicability answer = can_use_fused_linear_gelu_layer(layer, compute_capability, table); !answer)
    return answer;
  return can_use_fused_linear_gelu_input(layer, x, output);
}

}  // namespace bitproof::kernels
