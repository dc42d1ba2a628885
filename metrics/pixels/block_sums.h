// Sums over 4x4 blocks of a pair of planes, and the SSIM windows made of 2x2 neighbouring blocks. The vector
// code gives the same bits as the scalar code, on every instruction set: the sums are exact integers, and the
// windows' values are added up in one fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bitproof::metrics {

// Four rows of two planes, the rows `stride` samples apart.
template <class T>
struct RowPair {
  const T* a;
  std::ptrdiff_t stride_a;
  const T* b;
  std::ptrdiff_t stride_b;
};

// One row of blocks. The sums are integers below 2^53, kept as doubles, which hold them exactly.
struct BlockRow {
  std::vector<double> a, b;     // sums of the samples
  std::vector<double> error;    // sums of (a - b)^2
  std::vector<double> product;  // sums of a b
  explicit BlockRow(std::size_t blocks) : a(blocks), b(blocks), error(blocks), product(blocks) {}
};

void sum_blocks(const RowPair<std::uint8_t>& rows, BlockRow& out);
void sum_blocks(const RowPair<std::uint16_t>& rows, BlockRow& out);
void sum_blocks_scalar(const RowPair<std::uint8_t>& rows, BlockRow& out, std::size_t first = 0);
void sum_blocks_scalar(const RowPair<std::uint16_t>& rows, BlockRow& out, std::size_t first = 0);

// SSIM's constants times the powers of the 64 samples of a window, rounded as FFmpeg does (vf_ssim.c,
// ssim_end1).
struct SsimConstants {
  double c1, c2;
  static SsimConstants of_depth(int depth);
};

// The sum of 1 - SSIM over the windows of two neighbouring rows of blocks.
double sum_window_distances(const BlockRow& upper, const BlockRow& lower, const SsimConstants& constants,
                            std::span<double> scratch);
double sum_window_distances_scalar(const BlockRow& upper, const BlockRow& lower, const SsimConstants& constants,
                                   std::span<double> scratch);

}  // namespace bitproof::metrics
