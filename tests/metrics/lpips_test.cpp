// LPIPS by a network with random weights (fixtures/lpips/generate.py), against what torchmetrics computes with
// it in float64.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {
namespace {

Request lpips_request(const std::filesystem::path& a, const std::filesystem::path& b) {
  Request request = request_for(a, b);
  request.metrics = {{find_metric("lpips"), std::nullopt}};
  request.settings["--lpips-model"] = fixture("lpips/squeeze_random.onnx").string();
  return request;
}

TEST(Lpips, RecordedValueOfTorchmetrics) {
  const auto expected = nlohmann::json::parse(read_file(fixture("lpips/expected.json")));
  for (const auto& pair : expected.at("pairs")) {
    const std::string a = pair.at("a"), b = pair.at("b");
    const Outcome outcome = compare(lpips_request(fixture("clips/" + a), fixture("clips/" + b)), {});
    // The network runs in float, over 19 layers.
    EXPECT_NEAR(score_of(outcome, "lpips", "average").value.value(), pair.at("lpips").get<double>(), 1e-6);
  }
}

TEST(Lpips, IdenticalFramesAreExactlyZero) {
  const Outcome outcome = compare(lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_a.png")), {});
  const Score& score = score_of(outcome, "lpips", "average");
  EXPECT_EQ(score.value, 0.0);
  EXPECT_TRUE(score.best);
}

TEST(Lpips, AnotherRangeOrOrderOfChannelsGivesAnotherValue) {
  const auto value = [](const char* flag, const char* setting) {
    Request request = lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_b.png"));
    request.settings[flag] = setting;
    return score_of(compare(request, {}), "lpips", "average").value.value();
  };
  const double declared = value("--lpips-range", "-1..1");
  EXPECT_NE(value("--lpips-range", "0..1"), declared);
  EXPECT_NE(value("--lpips-layout", "nchw-bgr"), declared);
}

TEST(Lpips, ConvertsYuvByANamedConverter) {
  Request request = lpips_request(fixture("clips/pair81_a.mp4"), fixture("clips/pair81_b.mp4"));
  const Outcome outcome = compare(request, {});
  EXPECT_EQ(outcome.compared, 81U);
  EXPECT_GT(score_of(outcome, "lpips", "average").value.value(), 0.0);
  EXPECT_NE(outcome.metrics[0].definition.text.find("RGB by libswscale"), std::string::npos);
  EXPECT_NE(outcome.metrics[0].definition.text.find("matrix bt709, limited range"), std::string::npos);
}

TEST(Lpips, WithoutAModelItIsABadRequest) {
  Request request = lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_b.png"));
  request.settings["--lpips-model"] = "";
  const Outcome outcome = compare(request, {});
  EXPECT_TRUE(has_failure(outcome, FailureKind::usage));
  EXPECT_EQ(outcome.exit_status(), 2);
}

TEST(Lpips, AFileThatIsNoNetworkIsUnreadable) {
  const TemporaryFolder folder;
  write_file(folder / "no.onnx", "not a network");
  Request request = lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_b.png"));
  request.settings["--lpips-model"] = (folder / "no.onnx").string();
  EXPECT_EQ(compare(request, {}).exit_status(), 2);
}

TEST(Lpips, InputsThatTheNetworkDoesNotHaveAreABadRequest) {
  Request request = lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_b.png"));
  request.settings["--lpips-inputs"] = "left,right";
  const Outcome outcome = compare(request, {});
  EXPECT_EQ(outcome.exit_status(), 2) << failure_text(outcome);
}

}  // namespace
}  // namespace bitproof::metrics::test
