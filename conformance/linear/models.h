// Ways in which linear + GELU is computed, and which of them a launch's bits are those of. A contract fixes
// one; kernels take others: another order of the sums, another place of the rounding, another GELU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/linear/domains.h"
#include "conformance/linear/prediction.h"
#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// How an output's FP32 sum comes about, bias included.
enum class LinearSum {
  tensor_core,          // steps of 16 products in ascending K, in one or more splits; then the bias
  bias_left_out,        // one split, and no bias
  product_rounded,      // one split, rounded to the dtype; then the bias
  fused_multiply_adds,  // one product after the other in FP32, a rounding each; then the bias
  binary64,             // one product after the other in binary64, the bias last; rounded to FP32
};

// What is made of the sum.
enum class LinearOutput {
  rounded_then_gelu,         // eager: rounded to the dtype, then the profile's GELU
  cublaslt_gelu,             // the GELU_BIAS epilogue: GELU in cuBLASLt's form of the FP32 sum
  gelu_of_fp32,              // the profile's GELU of the FP32 sum
  rounded_then_approximate,  // rounded to the dtype, then GELU with tanh.approx.f32
  approximate_of_fp32,       // GELU with tanh.approx.f32 of the FP32 sum
  rounded_then_erf,          // rounded to the dtype, then the erf form of GELU
  erf_of_fp32,               // the erf form of GELU of the FP32 sum
  sum_alone,                 // rounded to the dtype, and no GELU
};

struct LinearModel {
  LinearSum sum = LinearSum::tensor_core;
  int splits = 1;
  LinearOutput output = LinearOutput::rounded_then_gelu;
  bool operator==(const LinearModel&) const = default;
};

// The model that a contract asks for.
LinearModel model_of(const LinearContract& contract);

// "4 splits; eager's GELU of the rounded sum"
std::string describe(const LinearModel& model);

// Their sums, then their outputs, the first three of each: "2 splits or 3 splits; eager's GELU of the
// rounded sum". Empty for none.
std::string describe(const std::vector<LinearModel>& models);

// The models that give every bit of the observed rows, simplest sums first; none where no model does. Where
// there are some with the contract's sums only those, or else with its output only those: the simpler
// difference. `rows` are among the tested ones of the case, counted in their order; `got` are all tested
// outputs.
template <reference::Half T>
std::vector<LinearModel> models_that_explain(const PredictedCase<T>& predicted, const LinearCase& c,
                                             std::span<const T> got, std::span<const std::size_t> rows,
                                             const LinearContract& contract);

// Of the tested rows with a wrong element the first and others spread evenly, and some of all rows: as many as
// all models can be tried on in a second or two.
template <reference::Half T>
std::vector<std::size_t> rows_to_explain(const LinearCase& c, std::span<const T> expected,
                                         std::span<const T> got);

}  // namespace bitproof::conformance
