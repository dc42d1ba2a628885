// Where the scale of a block lies.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define BITPROOF_HOST_AND_DEVICE __host__ __device__
#else
#define BITPROOF_HOST_AND_DEVICE
#endif

namespace bitproof::kernels {

inline constexpr std::int64_t kNvfp4Block = 16;

enum class ScaleLayout {
  row_major,    // [rows, blocks per row]
  tiled_128x4,  // what the tensor cores of sm_100 and later read
};

// Bytes of the scales of rows x blocks; the tiled layout is filled up to whole tiles, with zeros.
BITPROOF_HOST_AND_DEVICE constexpr std::int64_t scale_bytes(ScaleLayout layout, std::int64_t rows,
                                                            std::int64_t blocks) {
  if (layout == ScaleLayout::row_major) return rows * blocks;
  return (rows + 127) / 128 * 128 * ((blocks + 3) / 4 * 4);
}

// Offset of the scale of block `block` of row `row`. Tiled: tiles of 128 rows x 4 blocks, 512 bytes each, along
// a row first; inside, the 128 rows are 4 groups of 32, and a row's 4 blocks lie together (cuBLAS
// documentation, "1D block scaling factors layout").
BITPROOF_HOST_AND_DEVICE constexpr std::int64_t scale_offset(ScaleLayout layout, std::int64_t row,
                                                             std::int64_t block, std::int64_t blocks) {
  if (layout == ScaleLayout::row_major) return row * blocks + block;
  const std::int64_t tile = row / 128 * ((blocks + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

}  // namespace bitproof::kernels
