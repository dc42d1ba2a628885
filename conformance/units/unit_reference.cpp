#include <bit>
#include <cmath>
#include <functional>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "conformance/digest.h"
#include "conformance/units/unit_functions.h"
#include "reference/environment.h"
#include "reference/half.h"
#include "reference/rounded_add.h"
#include "reference/sfu.h"
#include "reference/tanhf.h"

namespace bitproof::conformance {
namespace {

namespace sfu = reference::sfu;
using reference::Bf16;
using reference::Fp16;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

template <reference::Half T>
std::uint32_t sum_of_pair(std::uint32_t pair) {
  const T a{static_cast<std::uint16_t>(pair >> 16)}, b{static_cast<std::uint16_t>(pair)};
  return reference::add_rounded(a, b).bits;
}

// FP32 instructions of the GPU return one NaN, which the host's do not.
std::uint32_t tanhf_bits(float x) { return std::isnan(x) ? sfu::kNan : bits(reference::cuda_tanhf(x)); }

template <Unit kUnit>
std::uint32_t evaluate(std::uint32_t input) {
  const float x = std::bit_cast<float>(input);
  if constexpr (kUnit == Unit::ex2) return bits(sfu::ex2_approx_ftz(x));
  if constexpr (kUnit == Unit::rcp) return bits(sfu::rcp_approx_ftz(x));
  if constexpr (kUnit == Unit::tanh) return bits(sfu::tanh_approx(x));
  if constexpr (kUnit == Unit::rsqrt) return bits(sfu::rsqrt_approx_ftz(x));
  if constexpr (kUnit == Unit::sqrt) return bits(sfu::sqrt_approx_ftz(x));
  if constexpr (kUnit == Unit::lg2) return bits(sfu::lg2_approx_ftz(x));
  if constexpr (kUnit == Unit::sin) return bits(sfu::sin_approx_ftz(x));
  if constexpr (kUnit == Unit::cos) return bits(sfu::cos_approx_ftz(x));
  if constexpr (kUnit == Unit::tanhf) return tanhf_bits(x);
  if constexpr (kUnit == Unit::to_bf16) return reference::round_to<Bf16>(x).bits;
  if constexpr (kUnit == Unit::to_fp16) return reference::round_to<Fp16>(x).bits;
  if constexpr (kUnit == Unit::add_bf16) return sum_of_pair<Bf16>(input);
  if constexpr (kUnit == Unit::add_fp16) return sum_of_pair<Fp16>(input);
}

template <Unit kUnit>
std::uint64_t digest_of_range(std::uint64_t first, std::uint64_t last, std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::uint64_t input = first; input < last; ++input)
    sum += digest_term(seed, input, evaluate<kUnit>(static_cast<std::uint32_t>(input)));
  return sum;
}

// Calls `visitor.template operator()<unit>()` with the unit as a constant.
template <class Visitor>
auto visit(Unit unit, Visitor&& visitor) {
  switch (unit) {
    case Unit::ex2:
      return visitor.template operator()<Unit::ex2>();
    case Unit::rcp:
      return visitor.template operator()<Unit::rcp>();
    case Unit::tanh:
      return visitor.template operator()<Unit::tanh>();
    case Unit::rsqrt:
      return visitor.template operator()<Unit::rsqrt>();
    case Unit::sqrt:
      return visitor.template operator()<Unit::sqrt>();
    case Unit::lg2:
      return visitor.template operator()<Unit::lg2>();
    case Unit::sin:
      return visitor.template operator()<Unit::sin>();
    case Unit::cos:
      return visitor.template operator()<Unit::cos>();
    case Unit::tanhf:
      return visitor.template operator()<Unit::tanhf>();
    case Unit::to_bf16:
      return visitor.template operator()<Unit::to_bf16>();
    case Unit::to_fp16:
      return visitor.template operator()<Unit::to_fp16>();
    case Unit::add_bf16:
      return visitor.template operator()<Unit::add_bf16>();
    case Unit::add_fp16:
      break;
  }
  return visitor.template operator()<Unit::add_fp16>();
}

}  // namespace

std::uint32_t unit_reference(Unit unit, std::uint32_t input) {
  return visit(unit, [input]<Unit kUnit>() { return evaluate<kUnit>(input); });
}

std::uint64_t unit_reference_digest(Unit unit, std::uint64_t first, std::uint64_t count, std::uint64_t seed) {
  constexpr std::uint64_t kInputsPerTask = 1u << 18;
  return visit(unit, [=]<Unit kUnit>() {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::uint64_t>(first, first + count, kInputsPerTask), std::uint64_t{0},
        [seed](const tbb::blocked_range<std::uint64_t>& range, std::uint64_t sum) {
          reference::require_environment();
          return sum + digest_of_range<kUnit>(range.begin(), range.end(), seed);
        },
        std::plus<>());
  });
}

}  // namespace bitproof::conformance
