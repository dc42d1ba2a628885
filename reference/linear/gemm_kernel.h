// Inside of gemm: tensor-core steps on many columns at once, one column a vector lane. Private to this folder.
//
// A step needs every product aligned to the largest exponent E of its lane. In place of integer significands
// and shifts, a product is one FP32 multiplication, which is exact (16 or 22 significant bits); another, by
// 2^(25 - E), makes the unit of alignment 1, and the conversion to a 32-bit integer cuts off the rest toward
// zero. E itself comes from 16-bit integer lanes that hold the exponents of the factors beside their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reference/linear/tensor_core.h"

namespace bitproof::reference::gemm_kernel {

// Columns that are packed side by side, a multiple of the lanes of every vector target.
inline constexpr std::size_t kPanelColumns = 32;

// What stands in for the exponent of a zero, an infinity or a NaN. Sums of two exponents tell apart, without
// overflow of 16 bits: both finite and nonzero (within +-300), a zero among finite factors (below
// kZeroProduct), anything infinite or NaN (above every finite exponent, also with a zero).
inline constexpr int kZeroExponent = -8000;
inline constexpr int kNonFiniteExponent = 16000;
inline constexpr int kZeroProduct = -4000;

// The exponent of a factor as the step sees it, or one of the two above.
inline int packed_exponent(const TensorCoreFormat& format, float value) {
  const std::uint32_t magnitude = float_bits(value) & 0x7FFFFFFFu;
  if (magnitude == 0) return kZeroExponent;
  if (magnitude >= 0x7F800000u) return kNonFiniteExponent;
  return std::max(static_cast<int>(magnitude >> 23) - 127, format.least_exponent);
}

// Both 16-bit halves hold the exponent: broadcasting 32 bits is cheaper than broadcasting 16.
inline std::int32_t exponent_pair(int exponent) {
  const auto half = static_cast<std::uint16_t>(exponent);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(half) << 16 | half);
}

// Some rows of x, widened.
struct PackedRows {
  const float* values;                 // row r at values + r * stride
  const std::int32_t* exponent_pairs;  // likewise
  std::size_t rows;
  std::size_t stride;
};

// kPanelColumns columns of the product, for `steps` steps of 16.
struct PackedPanel {
  const float* values;            // [steps * 16][kPanelColumns]
  const std::int16_t* exponents;  // likewise
  std::size_t steps;
};

// Takes the panel's steps on `accumulators`, [rows][kPanelColumns], aligned to a vector.
void accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel,
                float* accumulators);

}  // namespace bitproof::reference::gemm_kernel
