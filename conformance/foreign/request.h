// What a check of somebody else's kernel is asked for, in words and as values.
#pragma once

#include <cstdint>
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
  ElementwiseOperator op;
  reference::Dtype dtype;
  std::vector<std::string> domains;  // distinct, and all of the operator
  reference::Profile profile;
  std::string equality;  // "bitwise", "ulp<=N"
  std::uint64_t seed = 1;
};

// The error names the member with `prefix` before it: "--" on a command line, "" in a program.
Result<ForeignRequest> parse_foreign_request(const ForeignRequestText& text, std::string_view prefix);

// The domains of an operator, by name.
std::vector<std::string> domains_of(const ElementwiseOperator& op);

// Every contract that a kernel can be checked against, as the JSON of bitproof_contracts().
std::string contracts_json();

}  // namespace bitproof::conformance
