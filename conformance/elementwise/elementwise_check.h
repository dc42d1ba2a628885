// What the checks of elementwise operators on the CPU and on a GPU have in common: identity, tallying a block,
// and describing its first counterexample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/comparison.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/expected.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/elementwise/placement.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// Everything that says which check this is.
struct ElementwiseSubject {
  ElementwiseOperator op;
  reference::Dtype dtype;
  reference::Profile profile;
  ElementwiseImplementation implementation;
  ElementwiseDomain domain;
  Record identity;  // with device, architecture and key filled in
  // The command that runs one block again; empty: that of `bitproof run`.
  std::function<std::string(std::uint64_t block)> reproduce{};
  // Whether a counterexample is diagnosed and shrunk: costs launches and time, which a mere verdict does not
  // need.
  bool explain = true;
};

// A case that every implementation must serve: contiguous, aligned to 32 bytes, width a multiple of 16, and an
// output that is the input or apart from it.
bool must_be_served(const Case& c);

// What the implementation's predicate says, if it has one.
std::optional<kernels::Applicability> predicted(const ElementwiseImplementation& implementation,
                                                const Tensors& tensors);

// "./bitproof run ..." that runs one small case (one_element.h) as the record says.
std::string command_of_case(const Record& identity, std::string_view element);

// Shrinks the counterexample of a wrong block (shrink.h). `run` is one launch on a case of no domain.
void shrink_first(const ElementwiseSubject& subject, Record& of_block,
                  const std::function<Record(const Case&)>& run);

// What many wrong elements of a launch say together, in words; empty when unknown.
struct Explanation {
  std::string diagnosis;  // which fault gives all bits
  std::string parts_at;   // where the computations part
};

// From whole rows of outputs, of which the first has a wrong element.
struct ObservedRows;
template <reference::Half T>
Explanation explain_rows(const ElementwiseSubject& subject, const Case& c, const Expected<T>& expected,
                         const ObservedRows& observed);

// A write to what is not the output's: guard bands, gaps between rows, operands.
struct OutOfBoundsWrite {
  std::string where;       // "element 0 past the end of the output"
  std::uint16_t was, now;  // bits
};
OutOfBoundsWrite out_of_bounds_write(const Case& c, const Placement& placement, std::uint64_t element,
                                     std::uint16_t now);

// What is known after one launch.
struct BlockOutcome {
  Tally tally;
  std::uint64_t digest = 0, expected_digest = 0;
  std::vector<std::uint8_t> errors;  // `values`: ULP error by input bits, empty when all are zero
  Explanation explanation;
  std::optional<OutOfBoundsWrite> out_of_bounds;  // the first in the arena
};

// An element of a case.
template <reference::Half T>
struct ElementFinding {
  std::uint64_t row = 0, column = 0;
  T input{}, bias{}, expected{}, got{};
};

// The record of one block from its outcome. `first` describes the element at tally.first; where no element of
// the output is wrong, the counterexample is the write out of bounds.
template <reference::Half T>
Record block_record(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                    const BlockOutcome& outcome, const std::optional<ElementFinding<T>>& first);

// The record of a block that the implementation rightly refused: it counts as a tested case without outputs.
Record refused_block_record(const ElementwiseSubject& subject, std::uint64_t block);

// The record of a block that ends with `verdict` for `reason`.
Record failed_block_record(const ElementwiseSubject& subject, std::uint64_t block, Verdict verdict,
                           std::string reason);

// The record of a block whose code did what no correct kernel does; `what` says where. It counts as tested,
// with one finding of kind out_of_bounds.
Record faulted_block_record(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                            std::string what);

// ULP error of every input of domain `values`, saturating: 255 stands also for what has no distance, and 1 for
// a difference of distance 0. `got_row(row)` is a row of the outputs.
template <reference::Half T, class GotRow>
std::vector<std::uint8_t> value_errors(const Case& c, const Expected<T>& expected, GotRow&& got_row) {
  std::vector<std::uint8_t> errors(65536);
  const std::vector<T> bias = expected.bias(c);
  std::vector<T> inputs(c.width), outputs(c.width);
  for (std::uint64_t row = 0; row < c.rows; ++row) {
    expected.row(c, row, bias, inputs, outputs);
    const std::span<const std::uint16_t> got = got_row(row);
    for (std::uint64_t column = 0; column < c.width; ++column)
      if (outputs[column].bits != got[column])
        errors[inputs[column].bits] = static_cast<std::uint8_t>(
            std::clamp<std::uint64_t>(distance(outputs[column], T{got[column]}), 1, 255));
  }
  return errors;
}

// A check on the CPU.
std::unique_ptr<Check> make_host_check(const ElementwiseSubject& subject);

// A check on CUDA device `device_id`. Only in builds with CUDA.
std::unique_ptr<Check> make_device_check(const ElementwiseSubject& subject, int device_id);

}  // namespace bitproof::conformance
