// The production kernel, for a GPU thread and for a CPU loop that stands in for one.
//
// Contract: bits of profile "pytorch-2.11-cuda" for every input, both dtypes, with and without bias; the sum is
// rounded to the dtype before GELU, GELU is FP32, its result is rounded once. Proved: all 65,536 values and all
// 2^32 (input, bias) pairs per dtype; the evidence is in fixtures/evidence.
#pragma once

#include <cstdint>

#include "kernels/elementwise_guard.h"
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

// The arguments for tensors that the predicate allows; `bias` is null for kernels without.
inline RowwiseArguments rowwise_arguments(const DLTensor& input, const DLTensor* bias, const DLTensor& output) {
  const RowsByWidth shape = rows_by_width(input);
  return {data_of(input), bias == nullptr ? nullptr : data_of(*bias), data_of(output), shape.rows, shape.width};
}

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

// One thread's share: one vector of every row that is its own. `Thread` says which: vector() along a row,
// first_row(), row_stride() to its next row within a tile, tile_stride() to its next tile; and it has the two
// ends of a dependent launch: wait_for_producer() before anything is read, release_consumer() after everything
// is written.
//
// A tile's loads are all in flight before the first use; the bias comes last of them, since the rows come from
// memory and it mostly from a cache. Rows are a thread's own, so in place is safe.
template <HalfType kType, bool kBias, int kVectorBytes, int kRowsPerThread, class Thread>
BITPROOF_KERNEL void gelu_tanh_body(const Thread& thread, const RowwiseArguments& arguments) {
  using V = Vector<kVectorBytes>;
  thread.wait_for_producer();
  const std::int64_t rows = arguments.rows, width = arguments.width;
  const std::int64_t column = thread.vector() * V::kElements;
  const std::int64_t step = thread.row_stride() * width;
  if (column < width) {
    for (std::int64_t tile = thread.first_row(); tile < rows; tile += thread.tile_stride()) {
      const std::uint16_t* const input = arguments.input + tile * width + column;
      std::uint16_t* const output = arguments.output + tile * width + column;
      V x[kRowsPerThread];
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (int i = 0; i < kRowsPerThread; ++i)
        if (i == 0 || tile + i * thread.row_stride() < rows)
          x[i] = load_streaming<kVectorBytes>(input + i * step);
      V bias{};
      if constexpr (kBias) bias = load_cached<kVectorBytes>(arguments.bias + column);
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (int i = 0; i < kRowsPerThread; ++i)
        if (i == 0 || tile + i * thread.row_stride() < rows)
          store_streaming<kVectorBytes>(output + i * step,
                                        gelu_tanh_of<kType, kBias, kVectorBytes>(x[i], bias));
    }
  }
  thread.release_consumer();
}

}  // namespace bitproof::kernels
