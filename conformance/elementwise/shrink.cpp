#include "conformance/elementwise/shrink.h"

#include <array>
#include <bit>
#include <charconv>
#include <vector>

#include "conformance/elementwise/elementwise_check.h"

namespace bitproof::conformance {
namespace {

// The bits after "x=0x".
std::uint16_t bits_of(const std::string& input) {
  std::uint16_t bits = 0;
  const std::size_t at = input.find("0x") + 2;
  (void)std::from_chars(input.data() + at, input.data() + input.size(), bits, 16);
  return bits;
}

// Simpler stand-ins for a value, the simplest first: zeros, one, small powers of two, then itself with fewer
// bits.
std::vector<std::uint16_t> simpler_than(std::uint16_t bits, reference::Dtype dtype) {
  const bool bf16 = dtype == reference::Dtype::bf16;
  const int fraction = bf16 ? 7 : 10, exponent_of_one = bf16 ? 127 : 15;
  std::vector<std::uint16_t> values{0x0000, 0x8000};
  for (const int exponent : {0, 1, -1, 2, -2, 3})
    for (const int sign : {0, 0x8000})
      values.push_back(static_cast<std::uint16_t>(sign | (exponent_of_one + exponent) << fraction));
  for (int kept = 0; kept < fraction; ++kept) {
    const auto mask = static_cast<std::uint16_t>(0xFFFF << (fraction - kept));
    values.push_back(static_cast<std::uint16_t>(bits & mask & 0x7FFF));
    values.push_back(static_cast<std::uint16_t>(bits & mask));
  }
  values.push_back(static_cast<std::uint16_t>(bits & 0x7FFF));
  return values;
}

class Shrinker {
 public:
  Shrinker(const ElementwiseOperator& op, reference::Dtype dtype, std::uint64_t seed, bool of_an_element,
           const TryCase& try_case)
      : op_(op), dtype_(dtype), seed_(seed), of_an_element_(of_an_element), try_case_(try_case) {}

  // Takes the candidate if it fails, and not for another reason: one whose outputs are right beside a write out
  // of bounds does not stand for a wrong element.
  bool take(const OneElement& candidate) {
    std::optional<Counterexample> found = try_case_(case_of(candidate, op_, dtype_, seed_));
    if (!found || found->is_of_an_element() != of_an_element_) return false;
    best_ = candidate;
    found_ = std::move(*found);
    return true;
  }

  // The first shape that fails with these values, or with a bias of one: what takes another column's bias needs
  // one that is not theirs.
  bool find_shape(const OneElement& start, std::uint64_t row, std::uint64_t column) {
    if (find_shape_with(start, row, column)) return true;
    OneElement biased = start;
    biased.bias = dtype_ == reference::Dtype::bf16 ? 0x3f80 : 0x3c00;
    return op_.has_bias && find_shape_with(biased, row, column);
  }

  bool find_shape_with(const OneElement& start, std::uint64_t row, std::uint64_t column) {
    for (const bool in_place : {false, true})
      for (const std::uint64_t rows : {1, 2, 9, 64})
        for (const std::uint64_t width : {8, 16, 32, 64}) {
          OneElement candidate = start;
          candidate.rows = rows;
          candidate.width = width;
          candidate.row = row % rows;
          candidate.column = column % width;
          candidate.in_place = in_place;
          if (take(candidate)) return true;
        }
    return false;
  }

  void simplify() {
    for (std::uint16_t OneElement::*const value : {&OneElement::x, &OneElement::bias}) {
      if (value == &OneElement::bias && !op_.has_bias) continue;
      for (const std::uint16_t simpler : simpler_than(best_.*value, dtype_)) {
        if (simpler == best_.*value) break;
        OneElement candidate = best_;
        candidate.*value = simpler;
        if (take(candidate)) break;
      }
    }
    OneElement candidate = best_;
    candidate.row = candidate.column = 0;
    if (!(candidate == best_)) (void)take(candidate);
  }

  bool fails_again() { return take(OneElement(best_)); }

  const OneElement& best() const { return best_; }
  const Counterexample& found() const { return found_; }

 private:
  const ElementwiseOperator& op_;
  reference::Dtype dtype_;
  std::uint64_t seed_;
  bool of_an_element_;
  const TryCase& try_case_;
  OneElement best_;
  Counterexample found_;
};

}  // namespace

std::optional<SmallestCase> shrink(const ElementwiseOperator& op, reference::Dtype dtype,
                                   const Counterexample& first, const Record& id, const TryCase& try_case) {
  // The seed of the run, which the command names: what goes ahead of the case is made from it.
  Shrinker shrinker(op, dtype, id.seed, first.is_of_an_element(), try_case);
  OneElement start;
  if (first.is_of_an_element()) {
    start.x = bits_of(first.inputs.front());
    if (op.has_bias) start.bias = bits_of(first.inputs.back());
  }
  if (!shrinker.find_shape(start, first.row, first.column)) return std::nullopt;
  shrinker.simplify();
  if (!shrinker.fails_again()) return std::nullopt;
  const OneElement& best = shrinker.best();
  const Counterexample& found = shrinker.found();
  return SmallestCase{.rows = best.rows,
                      .width = best.width,
                      .row = found.row,
                      .column = found.column,
                      .inputs = found.inputs,
                      .expected = found.expected,
                      .got = found.got,
                      .place = found.is_of_an_element() ? "" : found.parts_at,
                      .layout = found.layout,
                      .element = to_text(best),
                      .reproduce = command_of_case(id, to_text(best))};
}

}  // namespace bitproof::conformance
