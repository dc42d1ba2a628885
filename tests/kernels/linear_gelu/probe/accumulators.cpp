// The epilogue on chosen FP32 accumulators: an accumulator is a sum of up to three products with 1, which is
// exact.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conformance/digest.h"
#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/linear_plan.h"
#include "reference/linear/gelu_epilogue.h"
#include "reference/linear/linear.h"
#include "reference/linear/tensor_core.h"
#include "tests/kernels/linear_gelu/probe/device_tensor.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"

namespace bitproof::probe {
namespace {

using kernels::HalfType;
using kernels::cuda::LinearEpilogue;
using reference::Bf16;
using reference::float_bits;
using reference::float_from_bits;
using reference::Fp16;
using reference::Half;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kColumns = 8, kDepth = 16;

template <Half T>
constexpr HalfType kHalfType = T::kDtype == reference::Dtype::bf16 ? HalfType::bf16 : HalfType::fp16;

constexpr LinearEpilogue kEpilogues[] = {LinearEpilogue::bias, LinearEpilogue::gelu, LinearEpilogue::gelu_bias};

constexpr std::string_view name(LinearEpilogue epilogue) {
  constexpr std::string_view kNames[] = {"BIAS", "GELU", "GELU_BIAS"};
  return kNames[static_cast<int>(epilogue)];
}

template <class Value>
DeviceBuffer uploaded(const std::vector<Value>& values) {
  DeviceBuffer buffer(values.size() * sizeof(Value));
  kernels::cuda::check(
      cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice),
      "cudaMemcpy to the device");
  return buffer;
}

// Row i of x holds up to 16 terms of accumulator i; every column of the result is their sum.
template <Half T>
struct Terms {
  explicit Terms(std::size_t rows)
      : x(rows * kDepth), weight(kColumns * kDepth, reference::round_to<T>(1.0f)) {}
  std::size_t rows() const { return x.size() / kDepth; }
  std::vector<T> x, weight;
};

// The output bits [rows, kColumns] in FP32 or T (in the low half).
template <Half T, class Output, class Bias>
std::vector<Output> run(const Terms<T>& terms, const std::vector<Bias>& bias, LinearEpilogue epilogue) {
  const kernels::cuda::LinearPlan plan({.rows = static_cast<std::int64_t>(terms.rows()),
                                        .columns = kColumns,
                                        .depth = kDepth,
                                        .dtype = kHalfType<T>,
                                        .fp32_output = sizeof(Output) == 4,
                                        .epilogue = epilogue});
  const DeviceBuffer x = uploaded(terms.x), weight = uploaded(terms.weight), device_bias = uploaded(bias);
  std::vector<Output> output(terms.rows() * kColumns);
  const DeviceBuffer device_output = uploaded(output);
  plan.run(x.data(), weight.data(), device_bias.data(), device_output.data(), nullptr);
  kernels::cuda::check(
      cudaMemcpy(output.data(), device_output.data(), output.size() * sizeof(Output), cudaMemcpyDeviceToHost),
      "cudaMemcpy from the device");
  return output;
}

struct SpecialCase {
  std::string_view what;
  float first, second;  // two terms of the accumulator
  float bias;
};

// Biases of both signs of NaN and with payloads; accumulators that overflow in the GEMM or by the bias.
const std::vector<SpecialCase> kSpecialCases{
    {"+inf", kInfinity, 0, 0},
    {"-inf", -kInfinity, 0, 0},
    {"+nan 0x7FC0", float_from_bits(0x7FC00000u), 0, 0},
    {"-nan 0xFFC0", float_from_bits(0xFFC00000u), 0, 0},
    {"+snan 0x7FA0", float_from_bits(0x7FA00000u), 0, 0},
    {"inf - inf in the GEMM", kInfinity, -kInfinity, 0},
    {"1 + bias +inf", 1, 0, kInfinity},
    {"1 + bias -inf", 1, 0, -kInfinity},
    {"1 + bias +nan 0x7FC0", 1, 0, float_from_bits(0x7FC00000u)},
    {"1 + bias -nan 0xFFE0", 1, 0, float_from_bits(0xFFE00000u)},
    {"+inf + bias -inf", kInfinity, 0, -kInfinity},
    {"-inf + bias +inf", -kInfinity, 0, kInfinity},
    {"+inf + bias +nan 0xFFC0", kInfinity, 0, float_from_bits(0xFFC00000u)},
    {"nan + bias 1", float_from_bits(0x7FC00000u), 0, 1},
    {"bf16 overflow +", 0x1.FEp127f, 0x1.FEp127f, 0},
    {"bf16 overflow -", -0x1.FEp127f, -0x1.FEp127f, 0},
    {"bf16 overflow by the bias", 0x1.FEp127f, 0, 0x1.FEp127f},
    {"2^127", 0x1p127f, 0, 0},
    {"largest below 2^127", 0x1.FEp126f, 0, 0},
    {"-2^127", -0x1p127f, 0, 0},
    {"largest fp16 + 16", 65504, 16, 0},
    {"largest fp16 + 15", 65504, 15, 0},
    {"-largest fp16 - 16", -65504, -16, 0},
    {"-0", -0.0f, -0.0f, 0},
    {"-0 + bias -0", -0.0f, -0.0f, -0.0f},
    {"1 - 1 + bias -0", 1, -1, -0.0f},
    {"least bf16 subnormal", 0x1p-133f, 0, 0},
    {"-least bf16 subnormal", -0x1p-133f, 0, 0},
    {"tail", -6, 0, 0},
};

// Rounded, but a NaN keeps its sign and the upper part of its payload.
template <Half T>
T narrowed(float value) {
  const std::uint32_t bits = float_bits(value);
  if (!reference::is_nan_bits(bits)) return reference::round_to<T>(value);
  const auto payload = (bits & 0x7FFFFFu) >> (23 - T::kFractionBits);
  return T{static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | reference::kPositiveInfinity<T>.bits | payload)};
}

// A cell of the table: the output of one epilogue in one output type, "!" and the prediction where it differs.
struct Cell {
  std::string text;
  bool predicted = false;
};

// Cases are alone in their GEMM, since a bias belongs to a column and not to a row.
template <Half T, class Output>
Cell run_special_case(const SpecialCase& special, LinearEpilogue epilogue) {
  Terms<T> terms(1);
  terms.x[0] = narrowed<T>(special.first);
  terms.x[1] = narrowed<T>(special.second);
  const T half_bias = narrowed<T>(special.bias);
  const float bias = sizeof(Output) == 4 ? special.bias : reference::widen(half_bias);
  const float accumulator = reference::gemm<T>(terms.x, terms.weight, {1, kColumns, kDepth}).front();
  const float sum = epilogue == LinearEpilogue::gelu ? accumulator : accumulator + bias;
  const float result = epilogue == LinearEpilogue::bias ? sum : reference::gelu_epilogue_fp32(sum);

  std::vector<Output> output;
  Output predicted{};
  if constexpr (sizeof(Output) == 4) {
    output = run<T, Output>(terms, std::vector<float>(kColumns, bias), epilogue);
    predicted = float_bits(reference::canonical_fp32(result));
  } else {
    output = run<T, Output>(terms, std::vector<T>(kColumns, half_bias), epilogue);
    predicted = reference::round_to<T>(result).bits;
  }
  for (const Output bits : output) {
    if (bits != predicted)
      return {fmt::format("{:0{}X}!{:0{}X}", bits, 2 * sizeof bits, predicted, 2 * sizeof bits), false};
  }
  return {fmt::format("{:0{}X}", predicted, 2 * sizeof predicted), true};
}

// Which combinations of output type and epilogue exist is part of the finding.
template <Half T, class Output>
Cell try_special_case(const SpecialCase& special, LinearEpilogue epilogue) {
  if (epilogue == LinearEpilogue::gelu && float_bits(special.bias) != 0) return {"-", true};
  try {
    return run_special_case<T, Output>(special, epilogue);
  } catch (const kernels::Refused&) {
    return {"refused", false};
  }
}

// One line for each case: FP32 and 16-bit output of the three epilogues.
template <Half T>
bool run_special_cases() {
  fmt::print("  {:<26}", reference::name(T::kDtype));
  for (const LinearEpilogue epilogue : kEpilogues) fmt::print(" {:>13}", name(epilogue));
  fmt::print("\n");
  bool predicted = true;
  for (const SpecialCase& special : kSpecialCases) {
    fmt::print("  {:<26}", special.what);
    for (const LinearEpilogue epilogue : kEpilogues) {
      const Cell wide = try_special_case<T, std::uint32_t>(special, epilogue);
      const Cell narrow = try_special_case<T, std::uint16_t>(special, epilogue);
      fmt::print(" {:>8} {:>4}", wide.text, narrow.text);
      predicted = predicted && wide.predicted && narrow.predicted;
    }
    fmt::print("\n");
  }
  return predicted;
}

// FP32 numbers over the whole range: signs, exponents and fractions alike.
float random_accumulator(std::uint64_t index) {
  const std::uint64_t random = conformance::mix64(index);
  const auto exponent = static_cast<std::uint32_t>(1 + random % 253);
  return float_from_bits(static_cast<std::uint32_t>(random >> 63) << 31 | exponent << 23 |
                         static_cast<std::uint32_t>(random >> 20 & 0x7FFFFF));
}

// A number with the upper 8 significant bits of `value`: bf16 by truncation.
float upper_part(float value) { return float_from_bits(float_bits(value) & 0xFFFF0000u); }

bool run_random_accumulators(LinearEpilogue epilogue) {
  constexpr std::size_t kRows = 1 << 20;
  Terms<Bf16> terms(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    float rest = random_accumulator(row);
    for (std::size_t k = 0; k < 3; ++k) {
      const float part = upper_part(rest);
      terms.x[row * kDepth + k] = reference::round_to<Bf16>(part);
      rest -= part;
    }
  }
  std::vector<float> bias;
  for (std::size_t column = 0; column < kColumns; ++column)
    bias.push_back(epilogue == LinearEpilogue::gelu ? 0
                                                    : std::ldexp(1.0f, static_cast<int>(column) - 4) * -0.7f);

  const std::vector<std::uint32_t> output = run<Bf16, std::uint32_t>(terms, bias, epilogue);
  const std::vector<float> accumulators =
      reference::gemm<Bf16>(terms.x, terms.weight, {kRows, kColumns, kDepth});
  std::uint64_t differing = 0, exact = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (i % kColumns == 0) exact += accumulators[i] == random_accumulator(i / kColumns);
    const float result = reference::gelu_epilogue_fp32(accumulators[i] + bias[i % kColumns]);
    if (output[i] == float_bits(reference::canonical_fp32(result))) continue;
    if (differing++ == 0)
      fmt::print("    first: accumulator {:08X}, bias {:08X}, got {:08X}, predicted {:08X}\n",
                 float_bits(accumulators[i]), float_bits(bias[i % kColumns]), output[i], float_bits(result));
  }
  fmt::print("  {} FP32 outputs of {} accumulators over the FP32 range ({} of them exact): {} differ\n",
             name(epilogue), output.size(), exact, differing);
  return differing == 0;
}

// One step whose sum depends on the least alignment of -133 (reference/linear/tensor_core.h), through the BIAS
// epilogue.
bool run_least_alignment() {
  bool predicted = true;
  for (const float scale : {0x1p-79f, 0x1p-80f}) {
    Terms<Bf16> terms(1);
    std::fill(terms.weight.begin(), terms.weight.end(), Bf16{0});
    for (std::size_t column = 0; column < kColumns; ++column) {
      terms.weight[column * kDepth] = reference::round_to<Bf16>(143 * scale);
      terms.weight[column * kDepth + 1] = reference::round_to<Bf16>(159 * scale);
    }
    terms.x[0] = reference::round_to<Bf16>(143 * 0x1p-79f);
    terms.x[1] = reference::round_to<Bf16>(129 * 0x1p-79f);
    const auto output =
        run<Bf16, std::uint32_t>(terms, std::vector<float>(kColumns, 0.0f), LinearEpilogue::bias);
    const float accumulator = reference::gemm<Bf16>(terms.x, terms.weight, {1, kColumns, kDepth}).front();
    fmt::print("  least alignment, factors scaled by {:a}: got {:08X}, predicted {:08X}\n", scale,
               output.front(), float_bits(accumulator));
    predicted = predicted && output.front() == float_bits(accumulator);
  }
  return predicted;
}

}  // namespace

bool run_accumulators() {
  fmt::print("accumulators: outputs in FP32 and in 16 bits; got!predicted where they differ\n");
  bool predicted = run_special_cases<Bf16>();
  predicted = run_special_cases<Fp16>() && predicted;
  predicted = run_random_accumulators(LinearEpilogue::gelu) && predicted;
  predicted = run_random_accumulators(LinearEpilogue::gelu_bias) && predicted;
  return run_least_alignment() && predicted;
}

}  // namespace bitproof::probe
