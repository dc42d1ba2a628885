// NVFP4: a [rows, depth] matrix as E2M1 values, one E4M3 scale per 16 values of a row, one FP32 scale per
// tensor; an element stands for value * scale * tensor scale.
//
// The rule, every operation FP32 and correctly rounded:
//
//   tensor scale    largest magnitude of the tensor / 2688 (6 * 448), so that the largest block's scale is 448;
//                   1 for a tensor of zeros
//   scale           largest magnitude of the block / (6 * tensor scale), to the nearest E4M3, ties to even, at
//                   most 448
//   value           element / (scale * tensor scale), to the nearest E2M1, ties to even, at most 6; a zero with
//                   the element's sign where the scale is 0
//
// Infinities count as the largest finite number of their dtype, and give +-6. NaNs do not count, and give +6.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/half.h"
#include "reference/nvfp4/formats.h"

namespace bitproof::reference {

inline constexpr std::size_t kNvfp4Block = 16;

struct Nvfp4Matrix {
  std::size_t rows = 0, depth = 0;
  std::vector<E2m1> values;  // [rows, depth]
  std::vector<E4m3> scales;  // [rows, depth / 16]
  float tensor_scale = 1;
};

template <Half T>
float nvfp4_tensor_scale(std::span<const T> x);

// x is [rows, depth] with a depth that is a multiple of 16, else std::invalid_argument. The tensor scale is
// passed, so that a sample of rows is quantised as in the whole.
template <Half T>
Nvfp4Matrix quantise_nvfp4(std::span<const T> x, std::size_t depth, float tensor_scale);

// value * scale without the tensor scale, [rows, depth]: exact. Throws std::invalid_argument when a code is no
// scale (is_scale) or the sizes do not match.
template <Half T>
std::vector<T> dequantise_nvfp4(const Nvfp4Matrix& matrix);

}  // namespace bitproof::reference
