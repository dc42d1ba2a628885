// NVFP4 matrices: E2M1 values, an E4M3 scale per 16 values of a row, an FP32 scale per tensor. An element
// stands for value * scale * tensor scale; the rule of quantisation is in nvfp4_body.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/mlp/matrix.h"
#include "kernels/nvfp4/scale_layout.h"

namespace bitproof::kernels {

// [rows, depth] in somebody else's memory, on one device.
struct Nvfp4Matrix {
  std::int64_t rows = 0, depth = 0;
  std::uint8_t* values = nullptr;  // [rows, depth / 2]: two a byte, the even column in the lower half
  std::uint8_t* scales = nullptr;  // scale_bytes(layout, rows, depth / 16)
  ScaleLayout layout = ScaleLayout::row_major;
  float* tensor_scale = nullptr;

  std::int64_t blocks_per_row() const { return depth / kNvfp4Block; }
};

// A weight, ready for linear_nvfp4: as codes for the native GEMM, or as an operand of the dtype, value * scale
// without the tensor scale, which is exact in bf16 and in fp16, for the others.
struct Nvfp4Weight {
  Nvfp4Matrix matrix;
  DLDevice device{};
  std::optional<Matrix> operand;
  std::shared_ptr<void> memory;  // that all of it is in
};

// A quantised matrix in the CPU's memory, scales row-major.
struct Nvfp4Codes {
  std::int64_t rows = 0, depth = 0;
  std::span<const std::uint8_t> values, scales;
  float tensor_scale = 1;
};

// Yes if the depth is whole blocks, the spans have the sizes of the shape, the tensor scale is positive and
// finite, and every scale is a non-negative number: codes with a sign and NaNs are refused.
Applicability can_use_nvfp4(const Nvfp4Codes& codes);

// What quantising a tensor into NVFP4 needs: bf16 or fp16, contiguous, rows of whole blocks.
Applicability can_quantise_nvfp4(const DLTensor& tensor);

namespace host {
// Writes matrix.tensor_scale, scales and values from a tensor that can_quantise_nvfp4 accepts.
void quantise_nvfp4(const Matrix& input, const Nvfp4Matrix& matrix);
// value * scale in the output's dtype.
void dequantise_nvfp4(const Nvfp4Matrix& matrix, const Matrix& output);
}  // namespace host

}  // namespace bitproof::kernels
