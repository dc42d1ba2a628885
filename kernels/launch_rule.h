// How a row-wise kernel is laid over a tensor: host code, and therefore part of the machine-code key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bitproof::kernels {

// A block covers a tile of `threads_x` vectors by `threads_y * rows_per_thread()` rows; each thread keeps the
// bias of its vector in registers for all its rows. Threads stride over the grid, so that any grid is correct.
struct LaunchRule {
  int threads_x = 0;
  int threads_y = 0;
  int bytes_in_flight = 0;  // that a thread loads before it computes

  // Wider vectors, fewer rows: as many registers.
  constexpr int rows_per_thread(int vector_bytes) const {
    return bytes_in_flight > vector_bytes ? bytes_in_flight / vector_bytes : 1;
  }
  constexpr int block_threads() const { return threads_x * threads_y; }
};

// The fused kernel's. One block per tile, not a persistent grid: on an H200 with bf16 and bias, 75600 x 13824
// takes 1.01x of cudaMemcpyAsync this way and 1.07x with the best grid capped at the resident blocks
// (kernels/README.md).
inline constexpr LaunchRule kFusedRule{.threads_x = 64, .threads_y = 2, .bytes_in_flight = 64};

struct LaunchGeometry {
  std::uint32_t grid_x = 0, grid_y = 0;
  std::uint32_t block_x = 0, block_y = 0;
  bool operator==(const LaunchGeometry&) const = default;
};

// Grid for `rows` x `vectors_per_row`, both positive. grid_y is capped at CUDA's limit of 65,535, and the
// kernel strides over the rest; grid_x always covers a row, since its limit of 2^31 - 1 blocks is 2 TiB of one
// row.
LaunchGeometry launch_geometry(const LaunchRule& rule, int vector_bytes, std::int64_t rows,
                               std::int64_t vectors_per_row);

// Block size of the eager kernels and of the baseline, and elements per thread that the eager grids are sized
// for.
inline constexpr int kLinearThreads = 256;
inline constexpr int kEagerElementsPerThread = 4;

// How `implementation` ("cuda.fused") launches on `architecture` ("sm_90"), in words: what of the host code
// decides which threads compute what. Hashed into the machine-code key. Empty for an implementation that has no
// such rule.
std::string launch_rule_text(std::string_view implementation, std::string_view architecture);

}  // namespace bitproof::kernels
