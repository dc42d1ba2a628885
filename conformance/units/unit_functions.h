// The unit fingerprint: the primitives that kernels are made of, each a function from a 32-bit number to bits.
// When an architecture gives other results, its fingerprint says at once which primitive differs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bitproof::conformance {

enum class Unit {
  ex2,
  rcp,
  tanh,
  rsqrt,
  sqrt,
  lg2,
  sin,
  cos,    // the special-function unit: FP32 bits to FP32 bits, the .approx.ftz forms
  tanhf,  // CUDA's tanhf
  to_bf16,
  to_fp16,  // FP32 bits to the bits of the format, nearest even
  add_bf16,
  add_fp16,  // the kernels' rounded add; the number holds the pair: first operand in the upper half
};

struct UnitFunction {
  Unit unit;
  std::string_view op;      // "unit.ex2"
  std::string_view dtype;   // of the operands
  std::string_view domain;  // "fp32_bits": all 2^32 patterns; "pairs": all 2^32 pairs
  int result_bits;          // 16 or 32
};

inline constexpr std::array kUnitFunctions{
    UnitFunction{Unit::ex2, "unit.ex2", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::rcp, "unit.rcp", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::tanh, "unit.tanh", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::rsqrt, "unit.rsqrt", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::sqrt, "unit.sqrt", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::lg2, "unit.lg2", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::sin, "unit.sin", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::cos, "unit.cos", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::tanhf, "unit.tanhf", "fp32", "fp32_bits", 32},
    UnitFunction{Unit::to_bf16, "unit.to_bf16", "fp32", "fp32_bits", 16},
    UnitFunction{Unit::to_fp16, "unit.to_fp16", "fp32", "fp32_bits", 16},
    UnitFunction{Unit::add_bf16, "unit.add", "bf16", "pairs", 16},
    UnitFunction{Unit::add_fp16, "unit.add", "fp16", "pairs", 16},
};

inline constexpr std::uint64_t kUnitInputs = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kUnitBlocks = 64;
inline constexpr std::uint64_t kUnitBlockInputs = kUnitInputs / kUnitBlocks;

// The CPU model's result.
std::uint32_t unit_reference(Unit unit, std::uint32_t input);

// Digest of the CPU model's results for inputs [first, first + count), on all cores; the index of a result is
// its input.
std::uint64_t unit_reference_digest(Unit unit, std::uint64_t first, std::uint64_t count, std::uint64_t seed);

}  // namespace bitproof::conformance
