// The predicates of the row-wise kernels: may this kernel serve these tensors, and if not, why not in words.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <dlpack/dlpack.h>

namespace bitproof::kernels {

// "Yes", or the reason why not.
struct Applicability {
  std::string reason;  // empty means yes
  explicit operator bool() const { return reason.empty(); }
};

// What a kernel raises when it is called with tensors that its predicate refuses. Nothing was touched.
class Refused : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Throws Refused with the reason of an answer that is no.
inline void require(const Applicability& answer) {
  if (!answer) throw Refused(answer.reason);
}

// A row-major tensor seen as rows of its last axis: all leading axes are folded into rows.
struct RowsByWidth {
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

// Shape of a tensor of rank 1 or more.
RowsByWidth rows_by_width(const DLTensor& tensor);

// output = f(input), or output = f(input + bias) with `bias` not null. Yes if:
//   input and output have one shape [..., width], rank >= 1, every extent positive; bias is [width];
//   all are bf16 or all fp16, row-major without gaps, on one device;
//   width is a multiple of vector_bytes / 2, and every first element is aligned to vector_bytes;
//   output is the input exactly, or overlaps neither input nor bias.
Applicability can_use_rowwise(const DLTensor& input, const DLTensor* bias, const DLTensor& output,
                              int vector_bytes);

}  // namespace bitproof::kernels
