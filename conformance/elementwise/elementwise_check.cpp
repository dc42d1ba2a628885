#include "conformance/elementwise/elementwise_check.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "conformance/elementwise/divergence.h"
#include "conformance/elementwise/shrink.h"
#include "conformance/mutants/diagnosis.h"

namespace bitproof::conformance {
namespace {

Record with_block(const ElementwiseSubject& subject, std::uint64_t block) {
  Record record = subject.identity;
  record.blocks = {{block, block + 1}};
  return record;
}

bool counts_cases(const ElementwiseSubject& subject) { return subject.domain.unit == "cases"; }

// What one launch shows: nothing where the implementation refuses, fails, or need not serve the case and has no
// predicate that says whether it does.
std::optional<Counterexample> first_difference(const ElementwiseImplementation& implementation, const Case& c,
                                               const std::function<Record(const Case&)>& run) {
  if (!implementation.can_use && !must_be_served(c)) return std::nullopt;
  try {
    return run(c).first;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// " --profile ..." where it is not the one that `run` takes by itself.
std::string profile_option(const Record& id) {
  return id.profile == reference::kPytorch211Cuda.name ? "" : " --profile " + id.profile;
}

std::string reproduce_command(const ElementwiseSubject& subject, std::uint64_t block) {
  if (subject.reproduce) return subject.reproduce(block);
  const Record& id = subject.identity;
  if (!subject.domain.element.empty()) return command_of_case(id, subject.domain.element);
  return fmt::format(
      "./bitproof run --op {} --dtype {} --impl {} --domain {} --device {}{} --seed {} --block {}", id.op,
      id.dtype, id.implementation, id.domain, id.device, profile_option(id), id.seed, block);
}

// The first 64 wrong elements of whole rows, and 64 more spread over the others.
template <reference::Half T>
std::vector<WrongElement<T>> wrong_elements(const Case& c, const Expected<T>& expected,
                                            const ObservedRows& observed) {
  constexpr std::size_t kFirst = 64, kSpread = 64;
  const std::vector<T> bias = expected.bias(c);
  std::vector<T> inputs(c.width), outputs(c.width);
  std::vector<WrongElement<T>> wrong;
  for (std::uint64_t row = 0; row < observed.got.size() / c.width; ++row) {
    expected.row(c, observed.first + row, bias, inputs, outputs);
    const auto got = observed.got.subspan(row * c.width, c.width);
    for (std::uint64_t column = 0; column < c.width; ++column)
      if (outputs[column].bits != got[column])
        wrong.push_back({inputs[column], bias.empty() ? T{} : bias[column], T{got[column]}});
  }
  if (wrong.size() <= kFirst + kSpread) return wrong;
  const std::size_t others = wrong.size() - kFirst;
  for (std::size_t i = 0; i < kSpread; ++i) wrong[kFirst + i] = wrong[kFirst + i * others / kSpread];
  wrong.resize(kFirst + kSpread);
  return wrong;
}

template <reference::Half T>
Counterexample counterexample(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                              const ElementFinding<T>& at, const Explanation& explanation) {
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
  example.parts_at = kind == Difference::unwritten ? "the element was never written" : explanation.parts_at;
  example.diagnosis = explanation.diagnosis;
  example.reproduce = reproduce_command(subject, block);
  return example;
}

// Of code that did what no correct kernel does, whatever its inputs: `what` says which.
Counterexample without_element(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                               std::string what, std::string expected, std::string got) {
  Counterexample example;
  example.expected = std::move(expected);
  example.got = std::move(got);
  example.kind = "out_of_bounds";
  example.rows = c.rows;
  example.width = c.width;
  example.block = block;
  example.layout = describe(c.layout);
  example.parts_at = std::move(what);
  example.reproduce = reproduce_command(subject, block);
  return example;
}

}  // namespace

OutOfBoundsWrite out_of_bounds_write(const Case& c, const Placement& placement, std::uint64_t element,
                                     std::uint16_t now) {
  return {in_words(placement, element), bits_before_launch(placement, c.source, element), now};
}

void shrink_first(const ElementwiseSubject& subject, Record& of_block,
                  const std::function<Record(const Case&)>& run) {
  Counterexample& first = *of_block.first;
  first.smallest = shrink(subject.op, subject.dtype, first, of_block,
                          [&](const Case& c) { return first_difference(subject.implementation, c, run); });
  // What names its cases otherwise than `run --case` has no command for one.
  if (first.smallest && subject.reproduce) first.smallest->reproduce.clear();
}

std::string command_of_case(const Record& id, std::string_view element) {
  return fmt::format("./bitproof run --op {} --dtype {} --impl {} --device {}{} --seed {} --case {}", id.op,
                     id.dtype, id.implementation, id.device, profile_option(id), id.seed, element);
}

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
Explanation explain_rows(const ElementwiseSubject& subject, const Case& c, const Expected<T>& expected,
                         const ObservedRows& observed) {
  const std::vector<WrongElement<T>> wrong = wrong_elements(c, expected, observed);
  return {diagnosis_in_words(diagnose(subject.op, subject.dtype, c, observed)),
          step_where_computations_part<T>(subject.op, subject.profile, wrong)};
}

template Explanation explain_rows(const ElementwiseSubject&, const Case&, const Expected<reference::Bf16>&,
                                  const ObservedRows&);
template Explanation explain_rows(const ElementwiseSubject&, const Case&, const Expected<reference::Fp16>&,
                                  const ObservedRows&);

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
    record.first = counterexample(subject, c, block, *first, outcome.explanation);
  } else if (const std::optional<OutOfBoundsWrite>& write = outcome.out_of_bounds) {
    record.first = without_element(subject, c, block, "a write to " + write->where,
                                   fmt::format("0x{:04x}", write->was), fmt::format("0x{:04x}", write->now));
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

Record faulted_block_record(const ElementwiseSubject& subject, const Case& c, std::uint64_t block,
                            std::string what) {
  Record record = with_block(subject, block);
  record.tested = counts_cases(subject) ? 1 : c.elements();
  record.kinds.out_of_bounds = record.mismatches = 1;
  record.first = without_element(subject, c, block, std::move(what), "no fault", "fault");
  return record;
}

template Record block_record(const ElementwiseSubject&, const Case&, std::uint64_t, const BlockOutcome&,
                             const std::optional<ElementFinding<reference::Bf16>>&);
template Record block_record(const ElementwiseSubject&, const Case&, std::uint64_t, const BlockOutcome&,
                             const std::optional<ElementFinding<reference::Fp16>>&);

}  // namespace bitproof::conformance
