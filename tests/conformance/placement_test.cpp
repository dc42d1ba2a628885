#include "conformance/elementwise/placement.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/tensor.h"

namespace bitproof::conformance {
namespace {

constexpr std::uint64_t kAlignment = 128;  // elements of 256 bytes

Case sample_case() {
  Case c;
  c.rows = 9;
  c.width = 1040;
  return c;
}

bool intersect(const Region& a, const Region& b) { return a.begin < b.end() && b.begin < a.end(); }

RC_GTEST_PROP(PlacementProperty, SeparateTensorsLieApartWithGuardsAtTheirOffsets, ()) {
  Case c;
  c.rows = *rc::gen::inRange<std::uint64_t>(1, 50);
  c.width = *rc::gen::inRange<std::uint64_t>(1, 3000);
  c.layout.row_gap = *rc::gen::inRange<std::uint64_t>(0, 40);
  c.layout.input_offset = *rc::gen::inRange<std::uint64_t>(0, 40);
  c.layout.bias_offset = *rc::gen::inRange<std::uint64_t>(0, 40);
  c.layout.output_offset = *rc::gen::inRange<std::uint64_t>(0, 40);
  const bool has_bias = *rc::gen::arbitrary<bool>();
  const Placement p = place(c, has_bias);

  RC_ASSERT(p.input.begin >= kGuardElements);
  RC_ASSERT(p.input.begin % kAlignment == c.layout.input_offset);
  RC_ASSERT(p.output.begin % kAlignment == c.layout.output_offset);
  RC_ASSERT(p.output.begin >= p.input.end() + kGuardElements);
  RC_ASSERT(p.arena_elements >= p.output.end() + kGuardElements);
  RC_ASSERT(p.input.end() - p.input.begin == (c.rows - 1) * (c.width + c.layout.row_gap) + c.width);
  RC_ASSERT(!p.output_is_input);
  if (!has_bias) {
    RC_ASSERT(p.bias.rows == 0u);
    return;
  }
  RC_ASSERT(p.bias.begin % kAlignment == c.layout.bias_offset);
  RC_ASSERT(p.bias.begin >= p.input.end() + kGuardElements);
  RC_ASSERT(p.output.begin >= p.bias.end() + kGuardElements);
  RC_ASSERT(p.bias.end() - p.bias.begin == c.width);
}

TEST(PlacementTest, SaysWhereAnElementOfTheArenaLies) {
  Case c = sample_case();
  c.layout.row_gap = 16;
  const Placement p = place(c, true);
  const std::uint64_t row = c.width + 16;
  EXPECT_EQ(in_words(p, p.input.begin - 1), "element 1 before the start of the input");
  EXPECT_EQ(in_words(p, p.input.begin + row + 2), "element [1, 2] of the input");
  EXPECT_EQ(in_words(p, p.input.begin + c.width + 3), "element 3 of the gap after row 0 of the input");
  EXPECT_EQ(in_words(p, p.input.end()), "element 0 past the end of the input");
  EXPECT_EQ(in_words(p, p.bias.begin + 5), "element [0, 5] of the bias");
  EXPECT_EQ(in_words(p, p.output.begin - 2), "element 2 before the start of the output");
  EXPECT_EQ(in_words(p, p.output.end() + 7), "element 7 past the end of the output");
  EXPECT_EQ(in_words(place(c, false), p.input.begin), "element [0, 0] of the input");
}

TEST(PlacementTest, BeforeALaunchOnlyInputAndBiasAreNotPoison) {
  const Case c = sample_case();
  const Placement p = place(c, true);
  EXPECT_EQ(bits_before_launch(p, c.source, p.input.begin + c.width + 1), c.source.input(1, 1));
  EXPECT_EQ(bits_before_launch(p, c.source, p.bias.begin + 1), c.source.bias(1));
  EXPECT_EQ(bits_before_launch(p, c.source, p.output.begin), 0xffa5);
  EXPECT_EQ(bits_before_launch(p, c.source, p.input.end()), 0xffa5);
}

TEST(PlacementTest, InPlaceTheOutputIsTheInput) {
  Case c = sample_case();
  c.layout.aliasing = Aliasing::in_place;
  c.layout.input_offset = 16;
  c.layout.output_offset = 3;  // has no meaning in place
  const Placement p = place(c, true);
  EXPECT_TRUE(p.output_is_input);
  EXPECT_EQ(p.output.begin, p.input.begin);
  EXPECT_EQ(p.output.end(), p.input.end());
  EXPECT_FALSE(intersect(p.output, p.bias));
  EXPECT_GE(p.arena_elements, p.bias.end() + kGuardElements);
}

TEST(PlacementTest, OverlapIsTheOnlyReasonToRefuseAnOverlappingOutput) {
  Case c = sample_case();
  for (const Aliasing aliasing : {Aliasing::partial_overlap, Aliasing::over_bias}) {
    c.layout.aliasing = aliasing;
    const Placement p = place(c, true);
    const bool over_input = aliasing == Aliasing::partial_overlap;
    EXPECT_EQ(intersect(p.output, p.input), over_input);
    EXPECT_TRUE(over_input || intersect(p.output, p.bias));
    EXPECT_FALSE(p.output_is_input);
    EXPECT_NE(p.output.begin, p.input.begin);
    // 32-byte vectors stay aligned, and a kernel that runs all the same stays inside the arena.
    EXPECT_EQ(p.output.begin % 16, 0u);
    EXPECT_GE(p.arena_elements, p.output.end() + kGuardElements);
  }
}

TEST(TensorsTest, DescribeThePlacement) {
  Case c = sample_case();
  c.layout.row_gap = 16;
  c.layout.bias_offset = 2;
  const Placement p = place(c, true);
  std::vector<std::uint16_t> arena(p.arena_elements);
  const Tensors tensors(p, true, arena.data(), reference::Dtype::fp16, DLDevice{kDLCUDA, 3});
  EXPECT_TRUE(tensors.has_bias);
  EXPECT_EQ(kernels::data_of(tensors.input), arena.data() + p.input.begin);
  EXPECT_EQ(kernels::data_of(tensors.output), arena.data() + p.output.begin);
  EXPECT_EQ(kernels::data_of(tensors.bias), arena.data() + p.bias.begin);
  for (const DLTensor* const matrix : {&tensors.input, &tensors.output}) {
    ASSERT_EQ(matrix->ndim, 2);
    EXPECT_EQ(matrix->shape[0], 9);
    EXPECT_EQ(matrix->shape[1], 1040);
    EXPECT_EQ(matrix->strides[0], 1056);
    EXPECT_EQ(matrix->strides[1], 1);
  }
  ASSERT_EQ(tensors.bias.ndim, 1);
  EXPECT_EQ(tensors.bias.shape[0], 1040);
  EXPECT_EQ(tensors.bias.strides[0], 1);
  for (const DLTensor* const tensor : {&tensors.input, &tensors.output, &tensors.bias}) {
    EXPECT_EQ(tensor->dtype.code, kDLFloat);
    EXPECT_EQ(tensor->dtype.bits, 16);
    EXPECT_EQ(tensor->dtype.lanes, 1);
    EXPECT_EQ(tensor->device.device_type, kDLCUDA);
    EXPECT_EQ(tensor->device.device_id, 3);
    // DLPack: `data` is aligned to 256 bytes, byte_offset goes the rest of the way.
    EXPECT_EQ((static_cast<std::uint16_t*>(tensor->data) - arena.data()) % 128, 0);
  }
  EXPECT_EQ(tensors.input.byte_offset, 0u);
  EXPECT_EQ(tensors.bias.byte_offset, 4u);
  const Tensors bf16(p, false, arena.data(), reference::Dtype::bf16, DLDevice{kDLCPU, 0});
  EXPECT_EQ(bf16.input.dtype.code, kDLBfloat);
  EXPECT_FALSE(bf16.has_bias);
}

TEST(DescriptionOfALayout, NamesWhatIsNotPlain) {
  EXPECT_EQ(describe(Layout{}), "contiguous");
  EXPECT_EQ(describe({.aliasing = Aliasing::in_place}), "in place");
  EXPECT_EQ(describe({.aliasing = Aliasing::partial_overlap}), "output overlaps input");
  EXPECT_EQ(describe({.aliasing = Aliasing::over_bias}), "output overlaps bias");
  EXPECT_EQ(describe({.bias_offset = 2, .aliasing = Aliasing::in_place}), "in place, bias offset 2");
  EXPECT_EQ(describe({.input_offset = 1, .output_offset = 4, .row_gap = 16}),
            "input offset 1, output offset 4, row gap 16");
  EXPECT_EQ(describe({.launch = Launch::delayed_producer}), "side stream with a delayed producer");
  EXPECT_EQ(describe({.launch = Launch::late_bias}), "dependent launch with a late bias");
  EXPECT_EQ(describe({.aliasing = Aliasing::in_place, .launch = Launch::graph_replay}),
            "in place, graph replay");
  EXPECT_EQ(describe({.launch = Launch::repeated}), "100 repetitions");
}

}  // namespace
}  // namespace bitproof::conformance
