#include "tests/generators/half.h"

#include <utility>
#include <vector>

#include "conformance/elementwise/specials.h"

namespace bitproof::generators {
namespace {

using reference::Dtype;

// As likely at every size: RapidCheck's inRange starts at `min` and widens with the number of the test.
rc::Gen<int> uniform(int min, int max) { return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(min, max)); }

// Fewer significant bits, the positive of it, zero.
rc::Seq<std::uint16_t> simpler(std::uint16_t bits, int fraction_bits) {
  std::vector<std::uint16_t> values;
  if (bits != 0) values.push_back(0);
  if ((bits & 0x8000) != 0) values.push_back(static_cast<std::uint16_t>(bits & 0x7FFF));
  for (int kept = 0; kept < fraction_bits; ++kept) {
    const auto fewer = static_cast<std::uint16_t>(bits & (0xFFFF << (fraction_bits - kept)));
    if (fewer != bits) values.push_back(fewer);
  }
  return rc::seq::fromContainer(std::move(values));
}

int fraction_bits(Dtype dtype) { return dtype == Dtype::bf16 ? 7 : 10; }

template <reference::Half T>
std::uint16_t bias_near_tie(std::uint16_t x_bits, int step) {
  // Half an ULP of x, when that is a number of the format: x + bias is then a tie.
  const int fraction = fraction_bits(std::is_same_v<T, reference::Bf16> ? Dtype::bf16 : Dtype::fp16);
  const int exponent = (x_bits & 0x7FFF) >> fraction;
  const int half_ulp = exponent - fraction - 1;
  if (half_ulp <= 0) return static_cast<std::uint16_t>(step & 0x7FFF);
  return static_cast<std::uint16_t>((half_ulp << fraction) + step);
}

}  // namespace

rc::Gen<std::uint16_t> half_bits(Dtype dtype) {
  const auto special = rc::gen::elementOf(conformance::special_values(dtype));
  const auto beside =
      rc::gen::apply([](std::uint16_t bits, int step) { return static_cast<std::uint16_t>(bits + step); },
                     special, uniform(-2, 3));
  const auto any = rc::gen::map(uniform(0, 65536), [](int bits) { return static_cast<std::uint16_t>(bits); });
  return rc::gen::shrink(rc::gen::noShrink(rc::gen::oneOf(special, beside, any)),
                         [dtype](std::uint16_t bits) { return simpler(bits, fraction_bits(dtype)); });
}

rc::Gen<std::uint16_t> bias_on_a_tie(Dtype dtype, std::uint16_t x) {
  const auto bias = rc::gen::apply(
      [=](int step, bool negative) {
        const std::uint16_t bits = dtype == Dtype::bf16 ? bias_near_tie<reference::Bf16>(x, step)
                                                        : bias_near_tie<reference::Fp16>(x, step);
        return static_cast<std::uint16_t>(negative ? bits ^ 0x8000 : bits);
      },
      uniform(-1, 2), rc::gen::arbitrary<bool>());
  return rc::gen::shrink(rc::gen::noShrink(bias),
                         [dtype](std::uint16_t bits) { return simpler(bits, fraction_bits(dtype)); });
}

rc::Gen<Shape> shape(std::uint64_t vector_elements) {
  return rc::gen::apply(
      [=](std::uint64_t rows, std::uint64_t vectors) {
        return Shape{rows, vectors * vector_elements};
      },
      rc::gen::inRange<std::uint64_t>(1, 20),
      rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(1, 9), rc::gen::inRange<std::uint64_t>(62, 67)));
}

rc::Gen<conformance::Layout> served_layout() {
  return rc::gen::apply(
      [](std::uint64_t input, std::uint64_t bias, std::uint64_t output, bool in_place) {
        conformance::Layout layout;
        layout.input_offset = 16 * input;
        layout.bias_offset = 16 * bias;
        layout.output_offset = in_place ? layout.input_offset : 16 * output;
        layout.aliasing = in_place ? conformance::Aliasing::in_place : conformance::Aliasing::separate;
        return layout;
      },
      rc::gen::inRange<std::uint64_t>(0, 4), rc::gen::inRange<std::uint64_t>(0, 4),
      rc::gen::inRange<std::uint64_t>(0, 4), rc::gen::arbitrary<bool>());
}

}  // namespace bitproof::generators
