#include "conformance/mutants/diagnosis.h"

#include <algorithm>
#include <type_traits>

#include "conformance/elementwise/placement.h"
#include "conformance/mutants/body.h"
#include "conformance/mutants/mutant.h"
#include "conformance/poison.h"
#include "reference/operators.h"

namespace bitproof::conformance {
namespace {

using kernels::HalfType;

// Whether every observed output is `output`(input, bias).
template <class Output>
bool all_are(const Output& output, const ElementwiseOperator& op, const Case& c, const ObservedRows& observed) {
  for (std::size_t i = 0; i < observed.got.size(); ++i) {
    const std::uint64_t row = observed.first + i / c.width, column = i % c.width;
    const std::uint16_t bias = op.has_bias ? c.source.bias(column) : std::uint16_t{0};
    if (output(c.source.input(row, column), bias) != observed.got[i]) return false;
  }
  return true;
}

// Eager's formula on the sum in FP32. The mutant has the production kernel's, whose bits are the same for sums
// of the dtype only.
template <reference::Half T>
std::uint16_t without_rounding_the_sum(std::uint16_t x, std::uint16_t bias) {
  reference::Profile profile = reference::kPytorch211Cuda;
  profile.sum_rounding = reference::SumRounding::none;
  return reference::bias_gelu_tanh(T{x}, T{bias}, profile).bits;
}

template <HalfType kType>
bool explains_elements(Fault fault, const ElementwiseOperator& op, const Case& c,
                       const ObservedRows& observed) {
  using T = std::conditional_t<kType == HalfType::bf16, reference::Bf16, reference::Fp16>;
  const auto mutant = [&](std::uint16_t x, std::uint16_t bias) {
    return mutants::element<kType>(fault, x, bias, op.has_bias, 0);
  };
  return all_are(mutant, op, c, observed) ||
         (fault == Fault::sum_not_rounded && all_are(without_rounding_the_sum<T>, op, c, observed));
}

// The rows that an implementation writes for the whole case; empty when it refuses.
std::vector<std::uint16_t> rows_of(const ElementwiseImplementation& implementation,
                                   const ElementwiseOperator& op, reference::Dtype dtype, const Case& c,
                                   const ObservedRows& observed) {
  constexpr std::uint64_t kAlignment = 128;  // elements, 256 bytes
  const Placement placement = place(c, op.has_bias);
  // row_stride_padded goes a vector further with every row.
  const std::uint64_t beyond = c.rows * mutants::kElements;
  std::vector<std::uint16_t> memory(kAlignment + placement.arena_elements + beyond, kPoison);
  auto* arena = memory.data();
  while (reinterpret_cast<std::uintptr_t>(arena) % (2 * kAlignment) != 0) ++arena;
  for (std::uint64_t row = 0; row < c.rows; ++row)
    for (std::uint64_t column = 0; column < c.width; ++column)
      arena[placement.input.begin + row * placement.input.stride + column] = c.source.input(row, column);
  for (std::uint64_t column = 0; op.has_bias && column < c.width; ++column)
    arena[placement.bias.begin + column] = c.source.bias(column);
  const Tensors tensors(placement, op.has_bias, arena, dtype, DLDevice{kDLCPU, 0});
  if (!implementation.can_use(tensors)) return {};
  implementation.run(tensors, nullptr);
  std::vector<std::uint16_t> rows;
  for (std::uint64_t i = 0; i < observed.got.size(); ++i)
    rows.push_back(
        arena[placement.output.begin + (observed.first + i / c.width) * placement.output.stride + i % c.width]);
  return rows;
}

bool keeps_state(Fault fault) {
  return fault == Fault::cached_by_pointer || fault == Fault::cached_by_shape ||
         fault == Fault::differs_on_repetition || fault == Fault::right_on_known_inputs;
}

}  // namespace

std::vector<Fault> diagnose(const ElementwiseOperator& op, reference::Dtype dtype, const Case& c,
                            const ObservedRows& observed) {
  constexpr std::uint64_t kLargestCase = 1u << 21;
  std::vector<Fault> found;
  // The mutants are of this activation.
  if (observed.got.empty() || op.activation != reference::Activation::gelu_tanh) return found;
  const auto add_if = [&](const FaultInfo& info, const auto& explains) {
    if ((op.has_bias || !info.needs_bias) && explains(info.fault)) found.push_back(info.fault);
  };
  // What the kernel without a fault gives too, as where another profile than the mutants' is asked for, is
  // none's.
  const auto of_elements = [&](Fault fault) {
    return dtype == reference::Dtype::bf16 ? explains_elements<HalfType::bf16>(fault, op, c, observed)
                                           : explains_elements<HalfType::fp16>(fault, op, c, observed);
  };
  if (of_elements(Fault::none)) return found;
  for (const FaultInfo& info : all_faults())
    if (info.arithmetic) add_if(info, of_elements);
  if (!found.empty() || c.elements() > kLargestCase) return found;
  for (const FaultInfo& info : all_faults())
    if (!info.arithmetic && info.shows == Shows::everywhere && !keeps_state(info.fault))
      add_if(info, [&](Fault fault) {
        return std::ranges::equal(rows_of(host_mutant(fault), op, dtype, c, observed), observed.got);
      });
  return found;
}

std::string diagnosis_in_words(const std::vector<Fault>& faults) {
  constexpr std::size_t kMostNamed = 3;
  if (faults.empty()) return {};
  std::string words = "differs exactly as a kernel that ";
  for (std::size_t i = 0; i < std::min(faults.size(), kMostNamed); ++i)
    words += (i == 0 ? "" : ", or one that ") + std::string(info_of(faults[i]).does);
  if (faults.size() > kMostNamed) words += ", or " + std::to_string(faults.size() - kMostNamed) + " others";
  return words + " would";
}

}  // namespace bitproof::conformance
