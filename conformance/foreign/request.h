// What a check of somebody else's kernel is asked for, in words and as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/elementwise/operators.h"
#include "conformance/report/result.h"
#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// As a command line or a caller of the C interface words it.
struct ForeignRequestText {
  std::string op, dtype;
  std::string domains{"values,boundary,random"};
  std::string profile{reference::kPytorch211Cuda.name};
  std::string equality = "bitwise";
  std::uint64_t seed = 1;
};

struct ForeignRequest {
  std::string op;
  std::optional<ElementwiseOperator> elementwise;  // nothing: linear_gelu_tanh
  reference::Dtype dtype;
  std::vector<std::string> domains;  // distinct, and all of the operator
  reference::Profile profile;
  bool epilogue = false;  // linear_gelu_tanh by the prediction of cuBLASLt's epilogue, in place of eager's bits
  std::string equality;   // "bitwise", "ulp<=N"
  std::uint64_t seed = 1;
};

// The error names the member with `prefix` before it: "--" on a command line, "" in a program.
Result<ForeignRequest> parse_foreign_request(const ForeignRequestText& text, std::string_view prefix);

// The domains of an operator, by name; none of what is no operator with a contract.
std::vector<std::string> domains_of(std::string_view op);

// Every contract that a kernel can be checked against, as the JSON of bitproof_contracts().
std::string contracts_json();

}  // namespace bitproof::conformance
