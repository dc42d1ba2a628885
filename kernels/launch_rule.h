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
  constexpr bool operator==(const LaunchRule&) const = default;
};

// One block per tile, not a persistent grid. Median times on an H200 against cudaMemcpyAsync, bf16 with bias:
// at 75600 x 13824 the first rule takes 1.01x, the second 1.02x, the best grid capped at the resident
// blocks 1.07x; at 4096 x 12288 it is 1.05x, 1.02x and 1.07x. Many loads in flight a thread feed a long stream;
// many small blocks even out the end of a short one.
inline constexpr LaunchRule kRowTileRule{.threads_x = 64, .threads_y = 2, .bytes_in_flight = 64};
inline constexpr LaunchRule kShortTensorRule{.threads_x = 64, .threads_y = 4, .bytes_in_flight = 16};
// The rules as types: nvcc takes no values of class type as template arguments of kernels.
struct LongTensors {
  static constexpr LaunchRule kRule = kRowTileRule;
};
struct ShortTensors {
  static constexpr LaunchRule kRule = kShortTensorRule;
};

inline constexpr std::int64_t kLongTensorElements = std::int64_t{1} << 28;

constexpr const LaunchRule& rule_for(std::int64_t rows, std::int64_t width) {
  return width >= kLongTensorElements / rows ? kRowTileRule : kShortTensorRule;
}

struct LaunchGeometry {
  std::uint32_t grid_x = 0, grid_y = 0;
  std::uint32_t block_x = 0, block_y = 0;
  bool operator==(const LaunchGeometry&) const = default;
};

// Grid for `rows` x `vectors_per_row`, both positive. grid_y is capped at CUDA's limit of 65,535 and grid_x at
// 2^31 - 1; the kernel's strides cover the rest.
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
