// Times of implementations on a GPU beside a plain copy, in one run, and the proof that what was timed is
// right.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/bench/time_summary.h"
#include "conformance/elementwise/operators.h"
#include "reference/half.h"

namespace bitproof::conformance {

struct BenchShape {
  std::uint64_t rows = 0, width = 0;
};

struct BenchSubject {
  ElementwiseOperator op;
  reference::Dtype dtype;
  BenchShape shape;
};

struct BenchEntry {
  std::string op, dtype, implementation;  // implementations, and "copy kernel" and "cudaMemcpyAsync"
  BenchShape shape;
  TimeSummary times;
  double bytes_per_second = 0;  // input read once and output written once, whatever the implementation moved
  double ratio_to_copy = 0;     // median over that of the copy kernel
  double ratio_to_memcpy = 0;
  bool right_bits =
      false;  // the outputs of the timed launches have the expected digest; true for copies that copied
};

// Times every device implementation of the operator, the copy kernel and cudaMemcpyAsync on device `device_id`
// with CUDA events, their launches interleaved; inputs and outputs rotate among buffers that together exceed
// the L2 cache several times. Afterwards checks the outputs of the last launches. Throws
// kernels::cuda::CudaError.
std::vector<BenchEntry> bench_elementwise(const BenchSubject& subject, int device_id);

}  // namespace bitproof::conformance
