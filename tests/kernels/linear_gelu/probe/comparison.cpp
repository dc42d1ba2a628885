#include "tests/kernels/linear_gelu/probe/comparison.h"

#include <cstddef>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "reference/linear/gelu_epilogue.h"
#include "reference/operators.h"
#include "reference/profile.h"
#include "reference/unary_map.h"

namespace bitproof::probe {
namespace {

using reference::EpilogueDifference;
using reference::Half;

// Keeps the example of the lower index.
void keep_first(std::optional<Example>& mine, const std::optional<Example>& other) {
  if (other && (!mine || other->index < mine->index)) mine = other;
}

std::string text_of(const Example& example) {
  return fmt::format("element {}: accumulator 0x{:08X} ({:g}), expected 0x{:04X}, got 0x{:04X}", example.index,
                     reference::float_bits(example.accumulator), example.accumulator, example.expected,
                     example.got);
}

void note(Mismatches& mismatches, const Example& example) {
  ++mismatches.count;
  keep_first(mismatches.first, example);
}

}  // namespace

Comparison& Comparison::operator+=(const Comparison& other) {
  tested += other.tested;
  eager.count += other.eager.count;
  fused.count += other.fused.count;
  keep_first(eager.first, other.eager.first);
  keep_first(fused.first, other.fused.first);
  for (std::size_t cause = 0; cause < causes.size(); ++cause) {
    causes[cause] += other.causes[cause];
    keep_first(cause_examples[cause], other.cause_examples[cause]);
  }
  return *this;
}

template <Half T>
Comparison compare(std::span<const float> biased_accumulators, std::span<const T> eager,
                   std::span<const T> fused, std::size_t first_index) {
  const reference::Profile profile = reference::kPytorch211Cuda;
  const reference::UnaryMap<T> gelu([&](T x) { return reference::gelu_tanh(x, profile); });
  const auto part_of = [&](const tbb::blocked_range<std::size_t>& part, Comparison result) {
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      const float sum = biased_accumulators[i];
      const T expected_eager = gelu(reference::round_to<T>(sum));
      const T expected_fused = reference::gelu_epilogue<T>(sum);
      const std::size_t index = first_index + i;
      ++result.tested;
      if (eager[i] != expected_eager) note(result.eager, {index, sum, expected_eager.bits, eager[i].bits});
      if (fused[i] != expected_fused) note(result.fused, {index, sum, expected_fused.bits, fused[i].bits});
      if (expected_eager == expected_fused) {
        ++result.causes[static_cast<std::size_t>(EpilogueDifference::none)];
        continue;
      }
      const auto cause = static_cast<std::size_t>(reference::compare_epilogue<T>(sum, profile).difference);
      ++result.causes[cause];
      keep_first(result.cause_examples[cause], Example{index, sum, expected_eager.bits, expected_fused.bits});
    }
    return result;
  };
  return tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, biased_accumulators.size(), 1 << 14),
                              Comparison{}, part_of, [](Comparison a, const Comparison& b) { return a += b; });
}

std::string describe(const Comparison& comparison) {
  std::string text = fmt::format("{} tested, eager {}, fused {} differ from the prediction", comparison.tested,
                                 comparison.eager.count, comparison.fused.count);
  if (comparison.eager.first) text += "\n      eager " + text_of(*comparison.eager.first);
  if (comparison.fused.first) text += "\n      fused " + text_of(*comparison.fused.first);
  return text;
}

std::string describe_causes(const Comparison& comparison) {
  std::string text;
  for (std::size_t cause = 1; cause < comparison.causes.size(); ++cause) {
    if (comparison.causes[cause] == 0) continue;
    text += fmt::format(
        "    eager and epilogue differ by {}: {} ({:.2f} %); {}\n",
        name(static_cast<EpilogueDifference>(cause)), comparison.causes[cause],
        100.0 * static_cast<double>(comparison.causes[cause]) / static_cast<double>(comparison.tested),
        text_of(*comparison.cause_examples[cause]));
  }
  return text;
}

template Comparison compare(std::span<const float>, std::span<const reference::Bf16>,
                            std::span<const reference::Bf16>, std::size_t);
template Comparison compare(std::span<const float>, std::span<const reference::Fp16>,
                            std::span<const reference::Fp16>, std::size_t);

}  // namespace bitproof::probe
