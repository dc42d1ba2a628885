// The FP32 accumulators of a cuBLASLt GEMM in bf16 or fp16, to the last bit: y[i][j] = sum over k of x[i][k] *
// w[j][k].
//
// With one split an accumulator starts at +0 and takes tensor-core steps of 16 products in ascending k, the
// last one filled up with zeros. With more, the k range is cut into chunks, each is summed from +0 in the same
// way, and the partial sums are added in FP32, nearest even, in ascending order. Rows and columns do not
// influence each other, so that a sample of rows or columns is predicted by passing just those.
//
// Source: measured on an H200 with cuBLASLt 13.1.1, 6,477 algorithm runs over 763 shapes with K and N multiples
// of 8: 0 mismatches. Other GPUs and versions: unmeasured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/half.h"

namespace bitproof::reference {

// x is [rows, depth], w is [columns, depth], y is [rows, columns]; all contiguous, depth fastest in x and w.
struct GemmShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

// Why the bits of a GEMM cannot be predicted.
struct GemmRefusal {
  std::string reason;
};

// Nothing when the GEMM is within what was measured. The multiples are those of the whole matrices that the GPU
// is given: a sample of columns is asked about with the columns of the whole.
std::optional<GemmRefusal> refuse_prediction(const GemmShape& shape, int splits);

// Length of every chunk of a split depth but the last: ceil(ceil(depth / splits) / 64) * 64.
std::size_t split_chunk(std::size_t depth, int splits);

// The accumulators, [rows, columns]. Any number of columns; `depth` must be a multiple of 8. Throws
// std::invalid_argument when the spans do not match the shape, splits < 1, or depth is not a multiple of 8, and
// EnvironmentError (reference/environment.h) when a thread it runs on has the wrong floating-point environment.
// Runs on the calling thread and on oneTBB's workers.
template <Half T>
std::vector<float> gemm(std::span<const T> x, std::span<const T> w, const GemmShape& shape, int splits = 1);

// The same through tensor_core_step alone, element by element on the calling thread: slow, and short enough to
// be read against the rule. What gemm is tested against.
template <Half T>
std::vector<float> gemm_plain(std::span<const T> x, std::span<const T> w, const GemmShape& shape,
                              int splits = 1);

// The rows of a [*, depth] matrix with the given numbers, for predicting a sample.
template <Half T>
std::vector<T> gather_rows(std::span<const T> matrix, std::size_t depth, std::span<const std::size_t> rows);

}  // namespace bitproof::reference
