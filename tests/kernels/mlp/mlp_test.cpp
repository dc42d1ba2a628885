// What an MLP runs, step by step, and the bits that come of it.
#include "kernels/mlp/mlp.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

using test::Bits;
using test::FirstLayer;
using test::RecordingExecutor;
using test::TestMlp;
using Steps = std::vector<std::string>;

constexpr std::uint64_t kSeed = 7;

TEST(Mlp, LosslessRunsTheEagerStepsOfItsLayers) {
  struct Case {
    FirstLayer kind;
    bool deferred;
    Steps steps;
  };
  const Case cases[]{
      {FirstLayer::dense, false, {"linear with bias", "gelu", "linear with bias"}},
      {FirstLayer::dense, true, {"linear", "add_bias", "gelu", "linear with bias"}},
      {FirstLayer::dense_without_bias, false, {"linear", "gelu", "linear with bias"}},
      {FirstLayer::dense_without_bias, true, {"linear", "gelu", "linear with bias"}},
      {FirstLayer::nvfp4, false, {"linear_nvfp4", "add_bias", "gelu", "linear with bias"}},
      {FirstLayer::nvfp4, true, {"linear_nvfp4", "add_bias", "gelu", "linear with bias"}},
      {FirstLayer::nvfp4_without_bias, false, {"linear_nvfp4", "gelu", "linear with bias"}},
  };
  for (const Case& c : cases) {
    TestMlp site(c.kind, "mlp", kSeed);
    site.first().skip_bias_add = c.deferred;
    RecordingExecutor executor;
    EXPECT_EQ(site.run(Quality::lossless, executor), site.eager(c.deferred));
    EXPECT_EQ(executor.take_steps(), c.steps);
    EXPECT_EQ(site.run(Quality::high, executor), site.eager(c.deferred)) << "high, but nothing is mounted";
    EXPECT_EQ(executor.take_steps(), c.steps);
  }
}

TEST(Mlp, TheSecondLayersDeferredBiasIsNotLost) {
  TestMlp site(FirstLayer::dense, "mlp", kSeed);
  site.second().skip_bias_add = true;
  RecordingExecutor executor;
  (void)site.run(Quality::lossless, executor);
  EXPECT_EQ(executor.take_steps(), (Steps{"linear with bias", "gelu", "linear", "add_bias"}));
}

TEST(Mlp, AMountedEpilogueRunsForHighRequestsOnly) {
  TestMlp site(FirstLayer::dense, "mlp", kSeed);
  LinearGeluGate gate(HostExecutor::can_fuse_linear_gelu, test::drop);
  gate.mark(site.mlp());
  ASSERT_TRUE(gate.mount(site.mlp()).mounted);
  RecordingExecutor executor;
  EXPECT_EQ(site.run(Quality::high, executor), site.epilogue());
  EXPECT_EQ(executor.take_steps(), (Steps{"linear_gelu", "linear with bias"}));
  EXPECT_EQ(site.run(Quality::lossless, executor), site.eager());
  EXPECT_NE(site.epilogue(), site.eager()) << "else the test would not tell them apart";
}

TEST(Mlp, AMountedNvfp4SiteFusesBiasAndGeluAfterFirstSight) {
  TestMlp site(FirstLayer::nvfp4, "mlp", kSeed);
  Nvfp4BiasGeluGate gate(test::drop);
  gate.mark(site.mlp());
  ASSERT_TRUE(gate.mount(site.mlp()).mounted);
  RecordingExecutor executor;
  EXPECT_EQ(site.run(Quality::high, executor), site.eager());
  EXPECT_EQ(executor.take_steps(),
            (Steps{"linear_nvfp4", "bias_gelu", "add_bias", "gelu", "linear with bias"}));  // both, compared
  EXPECT_EQ(site.run(Quality::high, executor), site.eager());
  EXPECT_EQ(executor.take_steps(), (Steps{"linear_nvfp4", "bias_gelu", "linear with bias"}));
  EXPECT_EQ(site.run(Quality::lossless, executor), site.eager());
  EXPECT_EQ(executor.take_steps(), (Steps{"linear_nvfp4", "add_bias", "gelu", "linear with bias"}));
}

TEST(Mlp, WithoutThePredicatesConsentAMountedNvfp4SiteAddsAndThenRunsGelu) {
  TestMlp site(FirstLayer::nvfp4, "mlp", kSeed);
  Nvfp4BiasGeluGate gate(test::drop);
  gate.mark(site.mlp());
  ASSERT_TRUE(gate.mount(site.mlp()).mounted);
  RecordingExecutor executor;
  executor.can_fuse = false;
  EXPECT_EQ(site.run(Quality::high, executor), site.eager());
  EXPECT_EQ(executor.take_steps(), (Steps{"linear_nvfp4", "add_bias", "gelu", "linear with bias"}));
}

TEST(Mlp, WithBothMountedTheEpilogueWinsAndTheBiasIsAddedOnceInEitherOrder) {
  for (const bool epilogue_first : {true, false}) {
    TestMlp site(FirstLayer::dense, "mlp", kSeed);
    test::AcceptingGate epilogue(Fusion::linear_gelu), deferral(Fusion::nvfp4_bias_gelu);
    for (QualityGate* const gate : {static_cast<QualityGate*>(&epilogue), static_cast<QualityGate*>(&deferral)})
      gate->mark(site.mlp());
    QualityGate& first = epilogue_first ? epilogue : deferral;
    QualityGate& second = epilogue_first ? deferral : epilogue;
    ASSERT_TRUE(first.mount(site.mlp()).mounted);
    ASSERT_TRUE(second.mount(site.mlp()).mounted);
    RecordingExecutor executor;
    EXPECT_EQ(site.run(Quality::high, executor), site.epilogue());
    EXPECT_EQ(executor.take_steps(), (Steps{"linear_gelu", "linear with bias"}));
    EXPECT_EQ(site.run(Quality::lossless, executor), site.eager(true))
        << "the bias is deferred, and added once";
    first.unmount(site.mlp());
    second.unmount(site.mlp());
    EXPECT_EQ(site.run(Quality::high, executor), site.eager());
    EXPECT_FALSE(site.first().skip_bias_add);
  }
}

std::string refusal(const Mlp& mlp, const DLTensor& x, const DLTensor& output) {
  RecordingExecutor executor;
  try {
    mlp.run(x, output, Quality::lossless, executor);
  } catch (const Refused& refused) {
    EXPECT_TRUE(executor.take_steps().empty());
    return refused.what();
  }
  return "";
}

TEST(Mlp, RefusesWhatDoesNotFit) {
  TestMlp site(FirstLayer::dense, "mlp", kSeed);
  test::GuardedTensor x({2, 16}), output({2, 8}), narrow({2, 8}), few({1, 8});
  const auto reason = [&](const DLTensor& in, const DLTensor& out) { return refusal(site.mlp(), in, out); };
  EXPECT_EQ(reason(x.description, output.description), "");
  EXPECT_EQ(reason(narrow.description, output.description), "x has shape [2, 8]; rows of 16 are needed");
  EXPECT_EQ(reason(x.description, x.description), "the output has shape [2, 16]; rows of 8 are needed");
  EXPECT_EQ(reason(x.description, few.description),
            "x has shape [2, 16], the output [1, 8]; their rows must match");
  x.set_strides({32, 1});
  EXPECT_EQ(reason(x.description, output.description), "x is not contiguous (row-major without gaps)");
  x.description.strides = nullptr;
  x.description.dtype = {kDLFloat, 32, 1};
  EXPECT_EQ(reason(x.description, output.description), "x is neither bf16 nor fp16");
  EXPECT_THROW(Mlp("mlp", site.second(), site.second()), Refused) << "8 columns do not fit a depth of 16";
}

TEST(Mlp, LeadingAxesAreRows) {
  TestMlp site(FirstLayer::dense, "mlp", kSeed);
  test::GuardedTensor x({3, 2, 16}), output({3, 2, 8}), flat({6, 8});
  for (std::uint16_t& bits : x.elements()) bits = 0x3F80;
  RecordingExecutor executor;
  site.mlp().run(x.description, output.description, Quality::lossless, executor);
  x.set_shape({6, 16});
  site.mlp().run(x.description, flat.description, Quality::lossless, executor);
  EXPECT_TRUE(std::ranges::equal(output.elements(), flat.elements()));
}

// --- First sight
// -----------------------------------------------------------------------------------------------

// A hidden tensor, its bias, and the bits that eager makes of them.
struct Activation {
  test::GuardedTensor hidden{{4, 16}}, bias{{16}};
  Bits expected;

  Activation() {
    reset();
    RecordingExecutor executor;
    add_bias_and_gelu(hidden.description, bias.description, false, executor);
    expected.assign(hidden.elements().begin(), hidden.elements().end());
    reset();
  }
  void reset() {
    std::uint16_t number = 0x3F00;
    for (std::uint16_t& bits : hidden.elements())
      bits = number = static_cast<std::uint16_t>(number ^ (number >> 3) ^ 0x8011);
    for (std::uint16_t& bits : bias.elements()) bits = 0x3D23;
  }
  Steps run(RecordingExecutor& executor) {
    reset();
    add_bias_and_gelu(hidden.description, bias.description, true, executor);
    EXPECT_TRUE(std::ranges::equal(hidden.elements(), expected));
    return executor.take_steps();
  }
};

const Steps kBoth{"bias_gelu", "add_bias", "gelu"}, kEager{"add_bias", "gelu"}, kFused{"bias_gelu"};

TEST(FirstSight, EqualBitsLetTheFusedKernelRunAloneFromThenOn) {
  Activation activation;
  RecordingExecutor executor;
  EXPECT_EQ(activation.run(executor), kBoth);
  EXPECT_EQ(activation.run(executor), kFused);
  EXPECT_EQ(activation.run(executor), kFused);
}

TEST(FirstSight, ADifferenceKeepsEagerForGoodAndLogsTheFirstElement) {
  std::vector<std::string> log;
  const auto sights = std::make_shared<FirstSight>([&log](const std::string& line) { log.push_back(line); });
  Activation activation;
  RecordingExecutor executor(sights);
  executor.wrong_at = 37;
  EXPECT_EQ(activation.run(executor), kBoth) << "and the result is eager's";
  EXPECT_EQ(activation.run(executor), kEager);
  executor.wrong_at.reset();
  EXPECT_EQ(activation.run(executor), kEager) << "for good";
  ASSERT_EQ(log.size(), 1u);
  EXPECT_TRUE(log[0].starts_with("bias + GELU stays eager for CPU bf16, 4..7 rows of 16: element 37 is 0x"))
      << log[0];
}

TEST(FirstSight, ASignOfZeroAndTheBitsOfANanAreDifferences) {
  RecordingExecutor executor;
  for (const std::pair<std::uint16_t, std::uint16_t> pair :
       {std::pair{0x0000, 0x8000}, std::pair{0x7FFF, 0x7FC0}}) {
    test::GuardedTensor a({1, 16}), b({1, 16});
    a.elements()[5] = pair.first;
    b.elements()[5] = pair.second;
    EXPECT_EQ(executor.first_difference(a.description, b.description),
              (BitDifference{.index = 5, .eager = pair.first, .fused = pair.second}));
  }
}

TEST(FirstSight, NothingIsVerifiedWhileAGraphIsCaptured) {
  Activation activation;
  RecordingExecutor executor;
  executor.capturing = true;
  EXPECT_EQ(activation.run(executor), kEager);
  EXPECT_EQ(activation.run(executor), kEager);
  executor.capturing = false;
  EXPECT_EQ(activation.run(executor), kBoth) << "capturing left no trace";
  executor.capturing = true;
  EXPECT_EQ(activation.run(executor), kFused) << "verified before, so it may be captured";
}

TEST(FirstSight, AKernelThatWritesNothingIsFoundOut) {
  class Lazy final : public HostExecutor {
   public:
    using HostExecutor::HostExecutor;
    void bias_gelu(const DLTensor&, const DLTensor&, const DLTensor&) override {}
  };
  const auto sights = test::quiet_sights();
  Lazy lazy(test::plain_gemm(), sights);
  Activation activation;
  add_bias_and_gelu(activation.hidden.description, activation.bias.description, true, lazy);
  EXPECT_EQ(sights->of(signature_of(0, activation.hidden.description)), Sight::different);
}

TEST(FirstSight, EverySignatureIsVerifiedForItself) {
  const auto tensor = [](std::int64_t rows, std::int64_t width, DLDataType dtype) {
    return std::make_unique<test::GuardedTensor>(std::vector{rows, width}, dtype);
  };
  const auto four = tensor(4, 16, test::kBf16), seven = tensor(7, 16, test::kBf16),
             eight = tensor(8, 16, test::kBf16);
  const auto wide = tensor(4, 32, test::kBf16), half = tensor(4, 16, test::kFp16);
  const KernelSignature signature = signature_of(90, four->description);
  EXPECT_EQ(signature_of(90, seven->description), signature) << "4 to 7 rows are one class";
  EXPECT_NE(signature_of(90, eight->description), signature);
  EXPECT_NE(signature_of(90, wide->description), signature);
  EXPECT_NE(signature_of(90, half->description), signature);
  EXPECT_NE(signature_of(100, four->description), signature);
  EXPECT_EQ(text_of(signature), "sm_90 bf16, 4..7 rows of 16");

  FirstSight sights(test::drop);
  sights.record(signature, std::nullopt);
  EXPECT_EQ(sights.of(signature), Sight::equal);
  EXPECT_EQ(sights.of(signature_of(100, four->description)), Sight::unseen);
  sights.record(signature, BitDifference{});
  sights.record(signature, std::nullopt);
  EXPECT_EQ(sights.of(signature), Sight::different) << "once different, always";
}

}  // namespace
}  // namespace bitproof::kernels
