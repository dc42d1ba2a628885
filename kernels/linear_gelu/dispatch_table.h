// Where the fused path of linear + GELU pays off: per architecture, as data with its source.
//
// Built in is what was published or measured by us; a measurement of the card at hand (`bitproof bench --op
// linear_gelu_tanh --write-dispatch FILE`, read by dispatch_file.h) replaces the row of its architecture.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/tensor.h"

namespace bitproof::kernels {

// How to compute gelu(x * weight^T + bias).
enum class LinearGeluPath {
  eager,     // GEMM with bias epilogue, rounded to the dtype, then the GELU kernel
  cublaslt,  // one GEMM with cuBLASLt's GELU_BIAS epilogue
};

std::string_view name(LinearGeluPath path);

// Median times of both paths in one run, for x [rows, depth] and weight [columns, depth].
struct LinearGeluTimes {
  HalfType dtype = HalfType::bf16;
  std::int64_t rows = 0, columns = 0, depth = 0;
  double eager_us = 0;
  double cublaslt_us = 0;

  // A draw goes to eager, which is exact.
  LinearGeluPath faster() const {
    return cublaslt_us < eager_us ? LinearGeluPath::cublaslt : LinearGeluPath::eager;
  }
  bool operator==(const LinearGeluTimes&) const = default;
};

// What is known of the epilogue's speed on an architecture, against GEMM followed by GELU.
enum class EpilogueSpeed {
  unmeasured,
  faster,  // for every measured shape
  slower,  // for every measured shape
  mixed,
};

struct ArchitectureRule {
  EpilogueSpeed epilogue = EpilogueSpeed::unmeasured;
  std::string source;
  std::vector<LinearGeluTimes> times;
};

EpilogueSpeed summarise(std::span<const LinearGeluTimes> times);

class DispatchTable {
 public:
  // The built-in rows alone.
  DispatchTable() = default;

  // Replaces what is known of exactly this compute capability (90 for 9.0).
  void set_measured(int compute_capability, ArchitectureRule rule);

  // The measured row of exactly this capability, else the built-in row of the nearest one not above it. A
  // capability below every row is unmeasured.
  const ArchitectureRule& rule_for(int compute_capability) const;

  // The path for a request that need not be lossless: the faster one for a shape that was measured; else the
  // epilogue only where it was faster for every measured shape of the dtype; eager where nothing was measured.
  LinearGeluPath path_for(int compute_capability, HalfType dtype, std::int64_t rows, std::int64_t columns,
                          std::int64_t depth) const;

 private:
  std::map<int, ArchitectureRule> measured_;
};

// The built-in rows, by the first compute capability that each holds for.
const std::map<int, ArchitectureRule>& built_in_rules();

}  // namespace bitproof::kernels
