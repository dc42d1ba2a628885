// The mutants' kernel: the production kernel's grid, tiles and rows (kernels/gelu_tanh_body.h), element by
// element, with a fault. For a GPU thread and for a CPU loop that stands in for one. Without a fault it gives
// the production bits everywhere, which the self test requires of it in the same run; so what the self test
// catches is the fault.
#pragma once

#include <cstdint>

#include "conformance/mutants/arithmetic.h"
#include "kernels/gelu_tanh_body.h"

namespace bitproof::conformance::mutants {

inline constexpr int kElements = 8;       // of a thread's vector, as in 16-byte accesses
inline constexpr int kRowsPerThread = 4;  // of a tile

struct MutantArguments {
  kernels::RowwiseArguments tensors;
  Fault fault = Fault::none;
  bool spoiled = false;    // one bit of one element is flipped: the repetition that differs
  bool recognised = true;  // right_on_known_inputs: the inputs are among those it knows
};

// Where an element is read and written.
struct Position {
  std::int64_t row, column;
};

BITPROOF_KERNEL bool is_skipped(const MutantArguments& a, Position at) {
  const std::int64_t width = a.tensors.width, rows = a.tensors.rows;
  switch (a.fault) {
    case Fault::tail_not_written:  // pairs of vectors only
      return width / kElements % 2 == 1 && at.column >= width - kElements;
    case Fault::last_row_skipped:
      return rows > 65535 && at.row == rows - 1;
    case Fault::index_wraps_at_2_31:  // `int i; if (i < n)`
      return at.row * width + at.column > 0x7FFFFFFF;
    case Fault::index_wraps_at_2_32:  // `unsigned i` comes to the first elements again
      return at.row * width + at.column > 0xFFFFFFFF;
    default:
      return false;
  }
}

BITPROOF_KERNEL std::uint16_t bias_at(const MutantArguments& a, Position at, std::int64_t first_column) {
  if (a.tensors.bias == nullptr) return 0;
  std::int64_t index = at.column;
  if (a.fault == Fault::bias_index_off_by_one) index = (index + 1) % a.tensors.width;
  if (a.fault == Fault::bias_by_row) index = at.row % a.tensors.width;
  if (a.fault == Fault::bias_of_lane_zero) index -= index % kElements;
  if (a.fault == Fault::depends_on_grid) index = first_column + index % kElements;
  return a.tensors.bias[index];
}

// A pitch of pairs of vectors: one vector too much where a row has an odd number of them.
BITPROOF_KERNEL std::int64_t output_stride(const MutantArguments& a) {
  constexpr std::int64_t kPair = 2 * kElements;
  if (a.fault != Fault::row_stride_padded) return a.tensors.width;
  return (a.tensors.width + kPair - 1) / kPair * kPair;
}

// A draw of the element's own.
BITPROOF_KERNEL std::uint32_t noise_at(const MutantArguments& a, Position at) {
  auto z = static_cast<std::uint32_t>(at.row * a.tensors.width + at.column) * 0x9E3779B9u;
  z = (z ^ (z >> 16)) * 0x85EBCA6Bu;
  return z ^ (z >> 13);
}

template <kernels::HalfType kType>
BITPROOF_KERNEL std::uint16_t value_at(const MutantArguments& a, Position at, std::uint16_t input,
                                       std::uint16_t bias) {
  Fault fault = a.fault;
  if (fault == Fault::wrong_lane_of_sixteen && at.column % 16 == 13) fault = Fault::result_truncated;
  if (fault == Fault::right_on_known_inputs && !a.recognised) fault = Fault::result_truncated;
  const std::uint16_t result = element<kType>(fault, input, bias, a.tensors.bias != nullptr, noise_at(a, at));
  const bool flipped = a.spoiled && at.row == 0 && at.column == 5;
  return flipped ? static_cast<std::uint16_t>(result ^ 1) : result;
}

// A thread's vector of one row. `biases` are those it read before the producer was done, else null.
template <kernels::HalfType kType>
BITPROOF_KERNEL void compute_vector(const MutantArguments& a, Position first, std::int64_t first_column,
                                    const std::uint16_t* early_biases) {
  const std::int64_t width = a.tensors.width, stride = output_stride(a);
  if (a.fault == Fault::input_read_after_output && a.tensors.bias != nullptr) {
    // The rounded sums go to the output, and GELU adds the bias to the input again: where that is the output,
    // twice.
    for (int lane = 0; lane < kElements; ++lane) {
      const std::int64_t i = first.row * width + first.column + lane;
      using F = Format<kType>;
      a.tensors.output[i] =
          F::round(kernels::add(F::widen(a.tensors.input[i]), F::widen(a.tensors.bias[first.column + lane])));
    }
  }
  for (int lane = 0; lane < kElements; ++lane) {
    const Position at{first.row, first.column + lane};
    if (is_skipped(a, at)) continue;
    const std::uint16_t bias = early_biases != nullptr ? early_biases[lane] : bias_at(a, at, first_column);
    a.tensors.output[at.row * stride + at.column] =
        value_at<kType>(a, at, a.tensors.input[at.row * width + at.column], bias);
  }
  if (a.fault == Fault::one_past_the_end && first.row == a.tensors.rows - 1 &&
      first.column == width - kElements)
    a.tensors.output[a.tensors.rows * width] = 0;
}

// `Thread` as for kernels::gelu_tanh_body, and with vector_stride() to its next vector along the row, for a
// grid that does not cover one.
template <kernels::HalfType kType, class Thread>
BITPROOF_KERNEL void mutant_body(const Thread& thread, const MutantArguments& a) {
  const std::int64_t first_column = thread.vector() * kElements;
  const bool reads_early = a.fault == Fault::bias_read_early && a.tensors.bias != nullptr;
  std::uint16_t early[kElements] = {};
  if (reads_early && first_column < a.tensors.width)
    for (int lane = 0; lane < kElements; ++lane) early[lane] = a.tensors.bias[first_column + lane];
  thread.wait_for_producer();
  for (std::int64_t column = first_column; column < a.tensors.width;
       column += thread.vector_stride() * kElements)
    for (std::int64_t tile = thread.first_row(); tile < a.tensors.rows; tile += thread.tile_stride())
      for (int i = 0; i < kRowsPerThread; ++i)
        if (const std::int64_t row = tile + i * thread.row_stride(); row < a.tensors.rows)
          compute_vector<kType>(a, {row, column}, first_column, reads_early ? early : nullptr);
  thread.release_consumer();
}

}  // namespace bitproof::conformance::mutants
