#include "conformance/elementwise/elementwise_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/elementwise/divergence.h"

namespace bitproof::conformance {
namespace {

Record with_block(const ElementwiseSubject& subject, std::uint64_t block) {
  Record record = subject.identity;
  record.blocks = {{block, block + 1}};
  return record;
}

bool counts_cases(const ElementwiseSubject& subject) { return subject.domain.unit == "cases"; }

template <reference::Half T>
Counterexample counterexample(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                              const ElementFinding<T>& at) {
  const Record& id = subject.identity;
  const Difference kind = difference(at.expected, at.got);
  Counterexample example;
  example.inputs.push_back(fmt::format("x=0x{:04x}", at.input.bits));
  if (subject.op.has_bias) example.inputs.push_back(fmt::format("bias=0x{:04x}", at.bias.bits));
  example.expected = fmt::format("0x{:04x}", at.expected.bits);
  example.got = fmt::format("0x{:04x}", at.got.bits);
  example.kind = name(kind);
  example.expected_value = reference::widen(at.expected);
  example.got_value = reference::widen(at.got);
  example.ulp = kind == Difference::unwritten ? 0 : distance(at.expected, at.got);
  example.rows = c.rows;
  example.width = c.width;
  example.row = at.row;
  example.column = at.column;
  example.vector_lane = static_cast<std::uint32_t>(at.column % subject.implementation.vector_elements);
  example.block = block;
  example.layout = describe(c.layout);
  example.parts_at = kind == Difference::unwritten
                         ? "the element was never written"
                         : step_where_computations_part(subject.op, subject.profile, at.input, at.bias, at.got);
  example.reproduce =
      subject.reproduce
          ? subject.reproduce(block)
          : fmt::format(
                "./bitproof run --op {} --dtype {} --impl {} --domain {} --device {} --seed {} --block {}",
                id.op, id.dtype, id.implementation, id.domain, id.device, id.seed, block);
  return example;
}

}  // namespace

bool must_be_served(const Case& c) {
  constexpr std::uint64_t kWidestVector = 16;
  const Layout& layout = c.layout;
  const auto is_aligned = [](std::uint64_t offset) { return offset % kWidestVector == 0; };
  return layout.row_gap == 0 &&
         (layout.aliasing == Aliasing::separate || layout.aliasing == Aliasing::in_place) &&
         is_aligned(layout.input_offset) && is_aligned(layout.bias_offset) &&
         is_aligned(layout.output_offset) && is_aligned(c.width);
}

std::optional<kernels::Applicability> predicted(const ElementwiseImplementation& implementation,
                                                const Tensors& tensors) {
  if (!implementation.can_use) return std::nullopt;
  return implementation.can_use(tensors);
}

template <reference::Half T>
Record block_record(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                    const BlockOutcome& outcome, const std::optional<ElementFinding<T>>& first) {
  Record record = with_block(subject, block);
  record.tested = counts_cases(subject) ? 1 : c.elements();
  record.kinds = outcome.tally.kinds;
  record.mismatches = outcome.tally.kinds.total();
  record.max_ulp = outcome.tally.max_ulp;
  record.ulp_histogram = outcome.tally.histogram;
  record.digest = outcome.digest;
  record.expected_digest = outcome.expected_digest;
  record.errors = outcome.errors;
  if (first) {
    record.first = counterexample(subject, c, block, *first);
    record.first->diagnosis = outcome.diagnosis;
  }
  return record;
}

Record refused_block_record(const ElementwiseSubject& subject, std::uint64_t block) {
  Record record = with_block(subject, block);
  record.tested = 1;
  return record;
}

Record failed_block_record(const ElementwiseSubject& subject, std::uint64_t block, Verdict verdict,
                           std::string reason) {
  Record record = with_block(subject, block);
  record.verdict = verdict;
  record.reason = std::move(reason);
  return record;
}

template Record block_record(const ElementwiseSubject&, const Case&, std::uint64_t, const BlockOutcome&,
                             const std::optional<ElementFinding<reference::Bf16>>&);
template Record block_record(const ElementwiseSubject&, const Case&, std::uint64_t, const BlockOutcome&,
                             const std::optional<ElementFinding<reference::Fp16>>&);

}  // namespace bitproof::conformance
