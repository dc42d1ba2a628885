#include "kernels/nvfp4/nvfp4.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/nvfp4/nvfp4_body.h"
#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

constexpr std::uint8_t kLargestScaleCode = 0x7E;  // 448; 0x7F is NaN, and from 0x80 on codes have a sign

bool whole_blocks(std::int64_t depth) { return depth > 0 && depth % kNvfp4Block == 0; }

std::string depth_reason(std::int64_t depth) {
  return "rows of " + std::to_string(depth) + " elements are not whole blocks of 16";
}

}  // namespace

Applicability can_use_nvfp4(const Nvfp4Codes& codes) {
  if (codes.rows <= 0 || !whole_blocks(codes.depth)) return {depth_reason(codes.depth)};
  const std::size_t count = static_cast<std::size_t>(codes.rows) * static_cast<std::size_t>(codes.depth);
  if (codes.values.size() != count / 2 || codes.scales.size() != count / kNvfp4Block)
    return {"the codes have " + std::to_string(codes.values.size()) + " bytes of values and " +
            std::to_string(codes.scales.size()) + " of scales; their shape needs " + std::to_string(count / 2) +
            " and " + std::to_string(count / kNvfp4Block)};
  if (!(codes.tensor_scale > 0) || !std::isfinite(codes.tensor_scale))
    return {"the tensor scale is not a positive number"};
  const auto bad =
      std::ranges::find_if(codes.scales, [](std::uint8_t code) { return code > kLargestScaleCode; });
  if (bad != codes.scales.end())
    return {"scale " + std::to_string(bad - codes.scales.begin()) + " has the code " +
            std::to_string(int{*bad}) + ", which is " + ((*bad & 0x7F) == 0x7F ? "NaN" : "negative") +
            "; scales are non-negative numbers"};
  return {};
}

Applicability can_quantise_nvfp4(const DLTensor& tensor) {
  if (!half_type(tensor)) return {"the tensor is neither bf16 nor fp16"};
  if (tensor.ndim < 1 || element_count(tensor) <= 0)
    return {"the tensor has no elements: its shape is " + shape_text(tensor)};
  if (!is_contiguous(tensor)) return {"the tensor is not contiguous (row-major without gaps)"};
  const std::int64_t depth = tensor.shape[tensor.ndim - 1];
  if (!whole_blocks(depth)) return {depth_reason(depth)};
  return {};
}

namespace host {
namespace {

template <HalfType kType>
void quantise(const Matrix& input, const Nvfp4Matrix& matrix) {
  const std::uint16_t* const elements = input.data();
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < input.count(); ++i)
    largest = std::max(largest, nvfp4::counted_magnitude<kType>(elements[i]));
  const float tensor_scale = nvfp4::tensor_scale_of<kType>(largest);
  *matrix.tensor_scale = tensor_scale;
  const std::int64_t blocks = matrix.blocks_per_row();
  std::fill_n(matrix.scales, scale_bytes(matrix.layout, matrix.rows, blocks), std::uint8_t{0});
  for (std::int64_t i = 0; i < matrix.rows * blocks; ++i) {
    std::uint32_t words[8];
    std::memcpy(words, elements + i * kNvfp4Block, sizeof words);
    const nvfp4::Block block = nvfp4::quantise_block<kType>(words, tensor_scale);
    std::memcpy(matrix.values + i * kNvfp4Block / 2, block.values, sizeof block.values);
    matrix.scales[scale_offset(matrix.layout, i / blocks, i % blocks, blocks)] =
        static_cast<std::uint8_t>(block.scale);
  }
}

template <HalfType kType>
void dequantise(const Nvfp4Matrix& matrix, const Matrix& output) {
  const std::int64_t blocks = matrix.blocks_per_row();
  for (std::int64_t i = 0; i < matrix.rows * blocks; ++i) {
    nvfp4::Block block{};
    std::memcpy(block.values, matrix.values + i * kNvfp4Block / 2, sizeof block.values);
    block.scale = matrix.scales[scale_offset(matrix.layout, i / blocks, i % blocks, blocks)];
    for (int pair = 0; pair < 8; ++pair) {
      const std::uint32_t word = nvfp4::dequantise_pair<kType>(block, pair);
      std::memcpy(output.data() + i * kNvfp4Block + 2 * pair, &word, sizeof word);
    }
  }
}

}  // namespace

void quantise_nvfp4(const Matrix& input, const Nvfp4Matrix& matrix) {
  if (input.dtype() == HalfType::bf16) return quantise<HalfType::bf16>(input, matrix);
  return quantise<HalfType::fp16>(input, matrix);
}

void dequantise_nvfp4(const Nvfp4Matrix& matrix, const Matrix& output) {
  if (output.dtype() == HalfType::bf16) return dequantise<HalfType::bf16>(matrix, output);
  return dequantise<HalfType::fp16>(matrix, output);
}

}  // namespace host
}  // namespace bitproof::kernels
