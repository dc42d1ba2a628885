// The production kernel, for a GPU thread and for a CPU loop that stands in for one.
//
// Contract: bits of profile "pytorch-2.11-cuda" for every input, both dtypes, with and without bias; the sum is
// rounded to the dtype before GELU, GELU is FP32, its result is rounded once. Proved: all 65,536 values and all
// 2^32 (input, bias) pairs per dtype; the evidence is in fixtures/evidence.
#pragma once

#include <cstdint>

#include "kernels/gelu_tanh_fast.h"
#include "kernels/half_pair.h"
#include "kernels/vector.h"

namespace bitproof::kernels {

// Row-major [rows, width] without gaps; width is a multiple of the vector's elements. `output` may be `input`.
struct RowwiseArguments {
  const std::uint16_t* input;
  const std::uint16_t* bias;  // [width]; not read by kernels without bias
  std::uint16_t* output;
  std::int64_t rows;
  std::int64_t width;
};

template <HalfType kType, bool kBias, int kVectorBytes>
BITPROOF_KERNEL Vector<kVectorBytes> gelu_tanh_of(const Vector<kVectorBytes>& x,
                                                  const Vector<kVectorBytes>& bias) {
  Vector<kVectorBytes> result;
  using Pair = HalfPair<kType>;
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 0; i < Vector<kVectorBytes>::kWords; ++i) {
    std::uint32_t word = x.words[i];
    if constexpr (kBias) word = Pair::add(word, bias.words[i]);
    const FloatPair wide = Pair::widen(word);
    result.words[i] = Pair::round({gelu_tanh_fast(wide.low), gelu_tanh_fast(wide.high)});
  }
  return result;
}

// `kRows` rows of one vector, `step` elements apart. All loads are in flight before the first use.
template <HalfType kType, bool kBias, int kVectorBytes, int kRows>
BITPROOF_KERNEL void gelu_tanh_rows(const std::uint16_t* input, std::uint16_t* output, std::int64_t step,
                                    const Vector<kVectorBytes>& bias) {
  Vector<kVectorBytes> x[kRows];
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 0; i < kRows; ++i) x[i] = load_streaming<kVectorBytes>(input + i * step);
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 0; i < kRows; ++i)
    store_streaming<kVectorBytes>(output + i * step, gelu_tanh_of<kType, kBias, kVectorBytes>(x[i], bias));
}

// One thread's share. `Thread` says where it stands: first_vector(), vector_stride() along a row, first_row(),
// row_stride() for its next row within a tile, tile_stride() to the next tile, and the two ends of a dependent
// launch: wait_for_producer() before anything is read, release_consumer() after everything is written. A
// thread's rows are its own, so in place is safe.
template <HalfType kType, bool kBias, int kVectorBytes, int kRowsPerThread, class Thread>
BITPROOF_KERNEL void gelu_tanh_body(const Thread& thread, const RowwiseArguments& arguments) {
  using V = Vector<kVectorBytes>;
  thread.wait_for_producer();
  const std::int64_t width = arguments.width;
  const std::int64_t step = thread.row_stride() * width;
  for (std::int64_t vector = thread.first_vector(); vector < width / V::kElements;
       vector += thread.vector_stride()) {
    const std::int64_t column = vector * V::kElements;
    V bias{};
    if constexpr (kBias) bias = load_cached<kVectorBytes>(arguments.bias + column);
    for (std::int64_t tile = thread.first_row(); tile < arguments.rows; tile += thread.tile_stride()) {
      const std::int64_t first = tile * width + column;
      const std::uint16_t* const input = arguments.input + first;
      std::uint16_t* const output = arguments.output + first;
      if (tile + (kRowsPerThread - 1) * thread.row_stride() < arguments.rows) {
        gelu_tanh_rows<kType, kBias, kVectorBytes, kRowsPerThread>(input, output, step, bias);
      } else {
        std::int64_t offset = 0;
        for (std::int64_t row = tile; row < arguments.rows; row += thread.row_stride(), offset += step)
          gelu_tanh_rows<kType, kBias, kVectorBytes, 1>(input + offset, output + offset, step, bias);
      }
    }
  }
  thread.release_consumer();
}

}  // namespace bitproof::kernels
