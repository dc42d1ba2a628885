// LPIPS by a network with random weights (fixtures/lpips/generate.py), against what torchmetrics computes with
// it in float64.
#include <gtest/gtest.h>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/expected.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

Request lpips_request(const std::filesystem::path& a, const std::filesystem::path& b) {
  Request request = request_for(a, b);
  request.metrics = {{find_metric("lpips"), std::nullopt}};
  request.settings["--lpips-model"] = fixture("lpips/squeeze_random.onnx").string();
  return request;
}

TEST(Lpips, RecordedValueOfTorchmetrics) {
  const Expected expected = read_expected(fixture("lpips/expected.json"));
  const auto a = fixture("clips/" + expected.at("/pairs/0/a")),
             b = fixture("clips/" + expected.at("/pairs/0/b"));
  // The network runs in float, over 19 layers.
  EXPECT_NEAR(score_of(compare(lpips_request(a, b), {}), "lpips", "average").value.value(),
              std::stod(expected.at("/pairs/0/lpips")), 1e-6);
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

class LpipsOfYuv : public testing::Test {
 protected:
  // Two frames, tagged as bt709 and of the range.
  std::filesystem::path tagged(std::string_view name, std::uint64_t seed, const std::string& range) {
    const Shape shape = small_shape();
    write_clip(folder_ / "clip.y4m", shape, make_clip(shape, 2, seed, 9));
    ffmpeg({"-v", "error", "-i", (folder_ / "clip.y4m").string(), "-c:v", "ffv1", "-colorspace", "bt709",
            "-color_range", range, (folder_ / name).string()});
    return folder_ / name;
  }
  TemporaryDirectory folder_;
};

TEST_F(LpipsOfYuv, ConvertsByANamedConverter) {
  const Outcome outcome = compare(lpips_request(tagged("a.mkv", 1, "tv"), tagged("b.mkv", 2, "tv")), {});
  EXPECT_EQ(outcome.compared, 2U);
  EXPECT_GT(score_of(outcome, "lpips", "average").value.value(), 0.0);
  EXPECT_NE(outcome.metrics[0].definition.text.find("RGB by libswscale"), std::string::npos);
  EXPECT_NE(outcome.metrics[0].definition.text.find("matrix bt709, limited range"), std::string::npos);
}

TEST_F(LpipsOfYuv, EqualColoursAreNearWhereOneSideHasNoTags) {
  // One sample differs. Without the other side's tags, the untagged one would be taken for bt601.
  const auto a = tagged("a.mkv", 1, "tv");
  Clip clip = make_clip(small_shape(), 2, 1, 9);
  for (auto& picture : clip) picture[0][100] ^= 1;
  write_clip(folder_ / "b.y4m", small_shape(), clip);
  const Outcome outcome = compare(lpips_request(a, folder_ / "b.y4m"), {});
  EXPECT_EQ(outcome.squared_error, 2U);
  EXPECT_EQ(outcome.metrics[0].definition.text.find("taken for"), std::string::npos);
  EXPECT_LT(score_of(outcome, "lpips", "average").value.value(), 1e-3);
}

TEST_F(LpipsOfYuv, TwoConversionsAreBothStated) {
  Request request = lpips_request(tagged("a.mkv", 1, "tv"), tagged("b.mkv", 1, "pc"));
  request.on_mismatch = OnMismatch::warn;
  const std::string text = compare(request, {}).metrics[0].definition.text;
  EXPECT_NE(text.find("A: RGB by libswscale"), std::string::npos) << text;
  EXPECT_NE(text.find("B: RGB by libswscale"), std::string::npos) << text;
}

TEST(Lpips, WithoutAModelItIsABadRequest) {
  Request request = lpips_request(fixture("clips/rgb_a.png"), fixture("clips/rgb_b.png"));
  request.settings["--lpips-model"] = "";
  const Outcome outcome = compare(request, {});
  EXPECT_TRUE(has_failure(outcome, FailureKind::usage));
  EXPECT_EQ(outcome.exit_status(), 2);
}

TEST(Lpips, AFileThatIsNoNetworkIsUnreadable) {
  const TemporaryDirectory folder;
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
