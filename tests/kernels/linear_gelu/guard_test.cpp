#include "kernels/linear_gelu/guard.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/linear_gelu/layer_fixture.h"

namespace bitproof::kernels {
namespace {

using test::Described;
using test::LayerFixture;

constexpr int kHopper = 90;

std::string layer_answer(const std::function<void(LayerFixture&)>& change, int compute_capability = kHopper) {
  LayerFixture fixture;
  change(fixture);
  return can_use_fused_linear_gelu_layer(fixture.layer, compute_capability).reason;
}

std::string input_answer(const std::function<void(LayerFixture&)>& change) {
  LayerFixture fixture;
  change(fixture);
  EXPECT_EQ(can_use_fused_linear_gelu_layer(fixture.layer, kHopper).reason, "")
      << "the static part must say yes";
  return can_use_fused_linear_gelu_input(fixture.layer, *fixture.x, *fixture.output).reason;
}

TEST(LinearGeluGuard, AcceptsAProductionLayer) {
  EXPECT_EQ(layer_answer([](LayerFixture&) {}), "");
  EXPECT_EQ(input_answer([](LayerFixture&) {}), "");
  LayerFixture fixture;
  EXPECT_TRUE(can_use_fused_linear_gelu(fixture.layer, *fixture.x, *fixture.output, kHopper));
}

TEST(LinearGeluGuard, AcceptsFp16) {
  LayerFixture f;
  for (Described* tensor : {&f.weight, &f.bias, &f.x, &f.output}) (*tensor)->dtype = test::kFp16;
  EXPECT_TRUE(can_use_fused_linear_gelu(f.layer, *f.x, *f.output, kHopper));
}

TEST(LinearGeluGuard, RefusesALayerWithoutAWeight) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.layer.weight = nullptr; }), "the layer has no weight");
}

TEST(LinearGeluGuard, RefusesAQuantisedWeight) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.layer.weight_quantised = true; }), "the weight is quantised");
}

TEST(LinearGeluGuard, RefusesAWeightThatIsNotAMatrix) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) {
              f.weight.set_shape({4, 3072, 3072});
            }),
            "the weight has rank 3; [N, K] is needed");
}

TEST(LinearGeluGuard, RefusesAnEmptyWeight) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) {
              f.weight.set_shape({12288, 0});
            }),
            "the weight is empty: its shape is [12288, 0]");
}

TEST(LinearGeluGuard, RefusesAWeightOffTheGpu) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.weight->device.device_type = kDLCPU; }),
            "the weight is not on a CUDA device");
}

TEST(LinearGeluGuard, RefusesAWeightThatIsNeitherBf16NorFp16) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.weight->dtype = test::kFp32; }),
            "the weight is neither bf16 nor fp16");
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.weight->dtype = test::kInt8; }),
            "the weight is neither bf16 nor fp16");
}

TEST(LinearGeluGuard, RefusesATransposedWeight) {
  std::array<std::int64_t, 2> strides{1, 12288};
  EXPECT_EQ(layer_answer([&](LayerFixture& f) { f.weight->strides = strides.data(); }),
            "the weight is not contiguous (row-major without gaps)");
}

TEST(LinearGeluGuard, RefusesAWeightBelow16ByteAlignment) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.weight->byte_offset = 8; }),
            "the weight is not aligned to 16 bytes");
}

TEST(LinearGeluGuard, RefusesRowsBelow16ByteAlignment) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) {
              f.weight.set_shape({12288, 3076});
            }),
            "x and the weight have rows of 3076 elements, which do not all start at multiples of 16 bytes: a "
            "multiple of 8 "
            "is needed");
  EXPECT_EQ(layer_answer([](LayerFixture& f) {
              f.weight.set_shape({12290, 3072});
            }),
            "the output would have rows of 12290 elements, which do not all start at multiples of 16 bytes: a "
            "multiple of 8 "
            "is needed");
}

TEST(LinearGeluGuard, RefusesALayerWithoutABias) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.layer.bias = nullptr; }), "the layer has no bias");
}

TEST(LinearGeluGuard, RefusesADeferredBias) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.layer.bias_deferred = true; }),
            "the bias is deferred (skip_bias_add): GELU would miss it");
}

TEST(LinearGeluGuard, RefusesABiasOfAnotherDtype) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias->dtype = test::kFp16; }),
            "the bias is of another dtype than the weight");
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias->dtype = test::kFp32; }),
            "the bias is of another dtype than the weight");
}

TEST(LinearGeluGuard, RefusesABiasOfAnotherLength) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias.set_shape({3072}); }),
            "the bias has shape [3072]; the weight's 12288 rows need one element each");
}

TEST(LinearGeluGuard, RefusesABiasThatTheEpilogueCannotRead) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias->byte_offset = 2; }),
            "the bias is not aligned to 16 bytes");
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias->device.device_type = kDLCPU; }),
            "the bias is not on a CUDA device");
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.bias->device.device_id = 1; }),
            "the bias and the weight are on different devices");
  std::array<std::int64_t, 1> strides{2};
  EXPECT_EQ(layer_answer([&](LayerFixture& f) { f.bias->strides = strides.data(); }),
            "the bias is not contiguous (row-major without gaps)");
}

TEST(LinearGeluGuard, RefusesAGatheredOutput) {
  EXPECT_EQ(layer_answer([](LayerFixture& f) { f.layer.output_gathered = true; }),
            "the output is gathered over several ranks before GELU");
}

TEST(LinearGeluGuard, RefusesArchitectures12AndLater) {
  for (const int capability : {120, 121, 130}) {
    const std::string reason = layer_answer([](LayerFixture&) {}, capability);
    EXPECT_EQ(
        reason,
        "on architecture " + std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
            " the epilogue is slower than GEMM followed by GELU (published for RTX 5090 (12.0), bf16: 295.96 "
            "us fused, 235.67 us eager)");
  }
}

TEST(LinearGeluGuard, AcceptsArchitectures12WhereTheCardAtHandWasMeasuredFaster) {
  DispatchTable table;
  const LinearGeluTimes faster{HalfType::bf16, 512, 12288, 3072, 100, 90};
  table.set_measured(120, {.epilogue = EpilogueSpeed::faster, .source = "measured", .times = {faster}});
  LayerFixture fixture;
  EXPECT_TRUE(can_use_fused_linear_gelu_layer(fixture.layer, 120, table));
  EXPECT_FALSE(can_use_fused_linear_gelu_layer(fixture.layer, 121, table));
}

TEST(LinearGeluGuard, RefusesAnInputOffTheGpu) {
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->device.device_type = kDLCPU; }),
            "x is not on a CUDA device");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->device.device_type = kDLROCM; }),
            "x is not on a CUDA device");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->device.device_type = kDLCUDAHost; }),
            "the output is not on a CUDA device");
}

TEST(LinearGeluGuard, RefusesAnInputOnAnotherGpu) {
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->device.device_id = 1; }),
            "x and the weight are on different devices");
}

TEST(LinearGeluGuard, RefusesAnInputOfAnotherDtype) {
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->dtype = test::kFp32; }), "x is neither bf16 nor fp16");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->dtype = test::kFp16; }),
            "x is of another dtype than the weight");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->dtype = test::kFp16; }),
            "the output is of another dtype than the weight");
}

TEST(LinearGeluGuard, RefusesAnInputBelow16ByteAlignment) {
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x->byte_offset = 2; }), "x is not aligned to 16 bytes");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->byte_offset = 8; }),
            "the output is not aligned to 16 bytes");
}

TEST(LinearGeluGuard, RefusesAStridedInput) {
  std::array<std::int64_t, 3> strides{256 * 4096, 4096, 1};
  EXPECT_EQ(input_answer([&](LayerFixture& f) { f.x->strides = strides.data(); }),
            "x is not contiguous (row-major without gaps)");
}

TEST(LinearGeluGuard, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(input_answer([](LayerFixture& f) {
              f.x.set_shape({2, 256, 3080});
            }),
            "x has shape [2, 256, 3080]; its last extent must be 3072");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.x.set_shape({}); }),
            "x has shape []; its last extent must be 3072");
  EXPECT_EQ(input_answer([](LayerFixture& f) {
              f.output.set_shape({2, 256, 3072});
            }),
            "the output has shape [2, 256, 3072]; its last extent must be 12288");
  EXPECT_EQ(input_answer([](LayerFixture& f) {
              f.output.set_shape({512, 12288});
            }),
            "the output has shape [512, 12288], x [2, 256, 3072]; all but the last must be equal");
}

TEST(LinearGeluGuard, RefusesAnInputWithoutRows) {
  EXPECT_EQ(input_answer([](LayerFixture& f) {
              f.x.set_shape({0, 3072});
            }),
            "x has no rows: its shape is [0, 3072]");
}

TEST(LinearGeluGuard, RefusesAnOutputThatOverlapsAnOperand) {
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->data = f.x->data; }), "the output overlaps x");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->data = f.weight->data; }),
            "the output overlaps the weight");
  EXPECT_EQ(input_answer([](LayerFixture& f) { f.output->data = f.bias->data; }),
            "the output overlaps the bias");
}

TEST(LinearGuard, ALayerWithoutABiasIsComputedButNotFused) {
  LayerFixture fixture;
  fixture.layer.bias = nullptr;
  EXPECT_EQ(can_compute_linear(fixture.layer, *fixture.x, *fixture.output).reason, "");
  EXPECT_EQ(can_compute_linear_gelu(fixture.layer, *fixture.x, *fixture.output).reason,
            "the layer has no bias");
  fixture.output->data = fixture.x->data;
  EXPECT_EQ(can_compute_linear(fixture.layer, *fixture.x, *fixture.output).reason, "the output overlaps x");
}

TEST(LinearGuard, ABiasThatIsThereMustFit) {
  LayerFixture fixture;
  fixture.bias.set_shape({8});
  EXPECT_EQ(can_compute_linear(fixture.layer, *fixture.x, *fixture.output).reason,
            "the bias has shape [8]; the weight's 12288 rows need one element each");
}

}  // namespace
}  // namespace bitproof::kernels
