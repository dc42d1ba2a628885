// A small case around one element: what a counterexample is shrunk to, and how the command line names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/elementwise/domains.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

// `x` is the input of its whole row where there is a bias, and only of its own column where there is none;
// `bias` is that of its column. Everything else is zero, and -0 for biases, which changes no sum. A launch of
// the same shape on other inputs goes ahead.
struct OneElement {
  std::uint64_t rows = 1, width = 16;
  std::uint64_t row = 0, column = 0;
  std::uint16_t x = 0, bias = 0x8000;
  bool in_place = false;
  bool operator==(const OneElement&) const = default;
};

// The largest shape: the element's row and column must fit the table of special values.
inline constexpr std::uint64_t kMostColumnsOfOneElement = 64;
inline constexpr std::uint64_t kMostRowsOfOneElement = 64;

Case case_of(const OneElement& element, const ElementwiseOperator& op, reference::Dtype dtype,
             std::uint64_t seed);

// Domain "case": that case and nothing else.
ElementwiseDomain domain_of(const OneElement& element, const ElementwiseOperator& op, reference::Dtype dtype,
                            std::uint64_t seed);

// "1x16,0,3,x=0x3c00,bias=0x8000" or with ",in_place": shape, row, column, bits.
std::string to_text(const OneElement& element);
Result<OneElement> parse_one_element(std::string_view text);

}  // namespace bitproof::conformance
