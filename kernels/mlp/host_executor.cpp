#include "kernels/mlp/host_executor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/gelu_tanh.h"
#include "kernels/half_pair.h"

namespace bitproof::kernels {
namespace {

constexpr DLDevice kCpu{kDLCPU, 0};

// Memory for a weight: codes, scales, tensor scale and operand.
struct OwnedWeight {
  std::vector<std::uint8_t> values, scales;
  float tensor_scale = 1;
  std::vector<std::uint16_t> operand;

  OwnedWeight(std::int64_t rows, std::int64_t depth)
      : values(static_cast<std::size_t>(rows * depth / 2)),
        scales(static_cast<std::size_t>(rows * depth / kNvfp4Block)),
        operand(static_cast<std::size_t>(rows * depth)) {}

  Nvfp4Matrix matrix(std::int64_t rows, std::int64_t depth) {
    return {.rows = rows,
            .depth = depth,
            .values = values.data(),
            .scales = scales.data(),
            .layout = ScaleLayout::row_major,
            .tensor_scale = &tensor_scale};
  }
};

// A weight whose codes `write` writes.
template <class Write>
Nvfp4Weight make_weight(HalfType dtype, std::int64_t rows, std::int64_t depth, Write&& write) {
  const auto memory = std::make_shared<OwnedWeight>(rows, depth);
  const Nvfp4Matrix matrix = memory->matrix(rows, depth);
  write(*memory, matrix);
  const Matrix operand(memory->operand.data(), dtype, kCpu, rows, depth);
  host::dequantise_nvfp4(matrix, operand);
  return {matrix, kCpu, operand, memory};
}

// What must hold of one tensor for itself.
Applicability check_tensor(const std::string& name, const DLTensor& tensor, HalfType dtype,
                           std::int64_t width) {
  if (tensor.device.device_type != kDLCPU) return {name + " is not on the CPU"};
  if (half_type(tensor) != dtype) return {name + " is of another dtype than the weight"};
  if (tensor.ndim < 1 || element_count(tensor) <= 0 || tensor.shape[tensor.ndim - 1] != width)
    return {name + " has shape " + shape_text(tensor) + "; rows of " + std::to_string(width) + " are needed"};
  if (!is_contiguous(tensor)) return {name + " is not contiguous (row-major without gaps)"};
  return {};
}

Applicability check_operands(const DLTensor& x, const DLTensor& output, HalfType dtype, std::int64_t depth,
                             std::int64_t columns) {
  if (Applicability answer = check_tensor("x", x, dtype, depth); !answer) return answer;
  if (Applicability answer = check_tensor("the output", output, dtype, columns); !answer) return answer;
  if (element_count(x) / depth != element_count(output) / columns)
    return {"x has shape " + shape_text(x) + ", the output " + shape_text(output) + "; their rows must match"};
  return {};
}

Applicability check_linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  if (layer.weight == nullptr) return {"the layer has no weight"};
  const DLTensor& weight = *layer.weight;
  if (weight.device.device_type != kDLCPU) return {"the weight is not on the CPU"};
  if (!half_type(weight)) return {"the weight is neither bf16 nor fp16"};
  return check_operands(x, output, *half_type(weight), weight.shape[1], weight.shape[0]);
}

// output = round(function(accumulator, column)).
template <HalfType kType, class Function>
void store(const std::vector<float>& accumulators, const Matrix& output, Function&& function) {
  const auto width = static_cast<std::size_t>(output.width());
  for (std::size_t i = 0; i < accumulators.size(); ++i)
    output.data()[i] = static_cast<std::uint16_t>(HostHalf<kType>::round(function(accumulators[i], i % width)));
}

// The dtype's template argument for a call of `function`.
template <class Function>
void visit(HalfType dtype, Function&& function) {
  if (dtype == HalfType::bf16) return function.template operator()<HalfType::bf16>();
  return function.template operator()<HalfType::fp16>();
}

// cuBLASLt's GELU epilogue; source: reference/linear/gelu_epilogue.h, measured.
float gelu_epilogue(float x) {
  constexpr float kBeta = 0x1.988454p-1f;         // sqrt(2/pi)
  constexpr float kScaledKappa = 0x1.2444fcp-5f;  // 0.0356774256
  const float slope = std::fma(kScaledKappa * x, x, kBeta);
  return 0.5f * std::fma(x, reference::sfu::tanh_approx(x * slope), x);
}

}  // namespace

HostExecutor::HostExecutor(HostGemm gemm, std::shared_ptr<FirstSight> sights)
    : Executor(std::move(sights)), gemm_(std::move(gemm)) {}

Matrix HostExecutor::scratch(Scratch purpose, HalfType dtype, std::int64_t rows, std::int64_t width) {
  std::vector<std::uint16_t>& memory = scratch_[static_cast<std::size_t>(purpose)];
  constexpr std::size_t kAlignment = 64 / sizeof(std::uint16_t);
  memory.resize(std::max(memory.size(), static_cast<std::size_t>(rows * width) + kAlignment));
  const auto misplaced = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(std::uint16_t) % kAlignment;
  return {memory.data() + (kAlignment - misplaced) % kAlignment, dtype, kCpu, rows, width};
}

void HostExecutor::linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  require(check_linear(layer, x, output));
  const std::vector<float> accumulators = gemm_(Matrix(x), Matrix(*layer.weight));
  const std::uint16_t* const bias =
      layer.bias == nullptr || layer.bias_deferred ? nullptr : data_of(*layer.bias);
  visit(*half_type(x), [&]<HalfType kType>() {
    store<kType>(accumulators, Matrix(output), [&](float sum, std::size_t column) {
      return bias == nullptr ? sum : sum + HostHalf<kType>::widen(bias[column]);
    });
  });
}

void HostExecutor::linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) {
  require(can_quantise_nvfp4(x));
  if (weight.device.device_type != kDLCPU) throw Refused("the weight is not on the CPU");
  require(check_operands(x, output, weight.operand->dtype(), weight.matrix.depth, weight.matrix.rows));
  const Nvfp4Weight quantised = quantise_weight(x);  // an activation is quantised as a weight is
  const float scale = *quantised.matrix.tensor_scale * *weight.matrix.tensor_scale;
  const std::vector<float> accumulators = gemm_(*quantised.operand, *weight.operand);
  visit(*half_type(x), [&]<HalfType kType>() {
    store<kType>(accumulators, Matrix(output), [&](float sum, std::size_t) { return sum * scale; });
  });
}

Applicability HostExecutor::can_fuse_linear_gelu(const LinearLayer& layer) {
  if (layer.weight_quantised) return {"the weight is quantised"};
  if (layer.weight == nullptr) return {"the layer has no weight"};
  if (layer.bias == nullptr) return {"the layer has no bias"};
  if (layer.bias_deferred) return {"the bias is deferred (skip_bias_add): GELU would miss it"};
  return {};
}

Applicability HostExecutor::can_use_linear_gelu(const LinearLayer& layer, const DLTensor& x,
                                                const DLTensor& output) const {
  if (Applicability answer = can_fuse_linear_gelu(layer); !answer) return answer;
  return check_linear(layer, x, output);
}

void HostExecutor::linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  require(can_use_linear_gelu(layer, x, output));
  const std::vector<float> accumulators = gemm_(Matrix(x), Matrix(*layer.weight));
  visit(*half_type(x), [&]<HalfType kType>() {
    store<kType>(accumulators, Matrix(output), [&](float sum, std::size_t column) {
      return gelu_epilogue(sum + HostHalf<kType>::widen(data_of(*layer.bias)[column]));
    });
  });
}

void HostExecutor::add_bias(const DLTensor& tensor, const DLTensor& bias) {
  require(can_use_rowwise(tensor, &bias, tensor, sizeof(std::uint16_t)));
  const Matrix matrix(tensor);
  const std::uint16_t* const addends = data_of(bias);
  visit(matrix.dtype(), [&]<HalfType kType>() {
    using Half = HostHalf<kType>;
    for (std::int64_t i = 0; i < matrix.count(); ++i)
      matrix.data()[i] = static_cast<std::uint16_t>(
          Half::round(Half::widen(matrix.data()[i]) + Half::widen(addends[i % matrix.width()])));
  });
}

void HostExecutor::gelu(const DLTensor& tensor) { host::gelu_tanh(tensor, tensor); }

Applicability HostExecutor::can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                              const DLTensor& output) const {
  return host::can_use_bias_gelu_tanh(input, bias, output);
}

void HostExecutor::bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  host::bias_gelu_tanh(input, bias, output);
}

void HostExecutor::copy(const DLTensor& from, const DLTensor& to) {
  std::copy_n(data_of(from), element_count(from), data_of(to));
}

std::optional<BitDifference> HostExecutor::first_difference(const DLTensor& eager, const DLTensor& fused) {
  const std::uint16_t* const a = data_of(eager);
  const std::uint16_t* const b = data_of(fused);
  for (std::int64_t i = 0; i < element_count(eager); ++i)
    if (a[i] != b[i]) return BitDifference{i, a[i], b[i]};
  return std::nullopt;
}

Nvfp4Weight HostExecutor::quantise_weight(const DLTensor& weight) {
  require(can_quantise_nvfp4(weight));
  const Matrix dense(weight);
  return make_weight(dense.dtype(), dense.rows(), dense.width(),
                     [&](OwnedWeight&, const Nvfp4Matrix& matrix) { host::quantise_nvfp4(dense, matrix); });
}

Nvfp4Weight HostExecutor::load_weight(const Nvfp4Codes& codes, HalfType dtype) {
  require(can_use_nvfp4(codes));
  return make_weight(dtype, codes.rows, codes.depth, [&](OwnedWeight& memory, const Nvfp4Matrix&) {
    std::ranges::copy(codes.values, memory.values.begin());
    std::ranges::copy(codes.scales, memory.scales.begin());
    memory.tensor_scale = codes.tensor_scale;
  });
}

}  // namespace bitproof::kernels
