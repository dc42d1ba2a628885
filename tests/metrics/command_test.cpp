// The program itself: what it prints, and how it ends.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "metrics/command/options.h"
#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

const std::string kA = fixture("clips/pair81_a.mp4").string(), kB = fixture("clips/pair81_b.mp4").string();

TEST(Command, DifferentClipsWithoutAThresholdEndWithZero) {
  const Finished finished = frames({kA, kB});
  EXPECT_EQ(finished.status, 0);
  EXPECT_NE(finished.output.find("verdict   DIFFERENT  81 of 81 compared frames differ"), std::string::npos);
  EXPECT_NE(finished.output.find("average 32.528269 dB"), std::string::npos);
  EXPECT_EQ(finished.output.find('\x1b'), std::string::npos);  // no colours into a pipe
  EXPECT_EQ(finished.error, "");                               // and no progress bar
}

TEST(Command, ExitStatuses) {
  EXPECT_EQ(frames({kA, kA, "--require-identical"}).status, 0);
  EXPECT_EQ(frames({kA, kB, "--require-identical"}).status, 1);
  EXPECT_EQ(frames({kA, kB, "--min-psnr", "32", "--min-ssim", "0.94"}).status, 0);
  EXPECT_EQ(frames({kA, kB, "--min-ssim", "0.95"}).status, 1);
  EXPECT_EQ(frames({kA, "/no/such/file.mp4"}).status, 2);
  EXPECT_EQ(frames({kA, kB, "--no-such-option"}).status, 2);
  EXPECT_EQ(frames({kA}).status, 2);
  EXPECT_EQ(frames({kA, kB, "--metrics", "vmaf"}).status, 2);
  EXPECT_EQ(frames({kA, kA, "--min-ssim", "nan"}).status, 2);  // which nothing could miss or meet
  EXPECT_EQ(frames({kA, kB, "--csv", "/no/such/folder/a.csv"}).status, 2);
  EXPECT_EQ(frames({"--help"}).status, 0);
}

TEST(Command, JsonHoldsWhatOtherProgramsRelyOn) {
  const Finished finished = frames({kA, kB, "--json"});
  EXPECT_EQ(finished.status, 0);
  const auto report = nlohmann::json::parse(finished.output);
  EXPECT_EQ(report.at("identical"), false);
  EXPECT_EQ(report.at("frames"), nlohmann::json({{"a", 81}, {"b", 81}, {"compared", 81}}));
  EXPECT_NEAR(report.at("psnr").at("average").get<double>(), 32.528269, 5e-7);
  EXPECT_TRUE(report.at("psnr").at("y").is_number());
  EXPECT_NEAR(report.at("ssim").at("all").get<double>(), 0.947238, 5e-7);
  EXPECT_TRUE(report.at("ssim").at("y").is_number());
  EXPECT_TRUE(report.at("definitions").at("psnr").is_string());
  EXPECT_TRUE(report.at("metadata_differences").is_array());
  EXPECT_EQ(report.at("worst_frames").at(0).at("frame"), 80);
  EXPECT_EQ(report.at("per_frame").size(), 81U);
}

TEST(Command, JsonIsWholeWhenAnInputCannotBeRead) {
  const Finished finished = frames({kA, "/no/such/file.mp4", "--json"});
  EXPECT_EQ(finished.status, 2);
  const auto report = nlohmann::json::parse(finished.output);
  EXPECT_EQ(report.at("identical"), false);
  EXPECT_EQ(report.at("failures").at(0).at("kind"), "unreadable");
  EXPECT_TRUE(report.at("psnr").at("average").is_null());
  EXPECT_EQ(report.at("ssim").at("all_reason"), "no pair of frames was measured");
}

TEST(Command, AReportNeverOverwritesAnInput) {
  const TemporaryDirectory folder;
  const std::filesystem::path input = folder / "a.mp4", link = folder / "link.mp4";
  std::filesystem::copy_file(kA, input);
  std::filesystem::create_symlink(input, link);
  for (const char* flag : {"--csv", "--html"}) {
    for (const auto& report : {input, link}) {
      const Finished finished = frames({kB, input.string(), flag, report.string()});
      EXPECT_EQ(finished.status, 2);
      EXPECT_NE(finished.error.find("would overwrite the input"), std::string::npos) << finished.error;
    }
  }
  EXPECT_EQ(read_file(input), read_file(kA));
  const std::string one = (folder / "report").string();
  EXPECT_EQ(frames({kA, kB, "--csv", one, "--html", one}).status, 2);
}

Request parsed(const std::vector<const char*>& arguments) {
  std::vector<const char*> argv = {"bitproof frames", "a", "b"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const auto result = parse_command_line(static_cast<int>(argv.size()), argv.data());
  if (const EarlyExit* exit = std::get_if<EarlyExit>(&result)) throw std::runtime_error(exit->error);
  return std::get<Command>(result).request;
}

TEST(CommandLine, AThresholdSelectsItsMetric) {
  const Request request = parsed({"--max-lpips", "0.1", "--lpips-model", "x.onnx"});
  ASSERT_EQ(request.metrics.size(), 3U);
  EXPECT_EQ(request.metrics[2].entry->name, "lpips");
  EXPECT_EQ(request.metrics[2].threshold, 0.1);
  EXPECT_EQ(request.settings.at("--lpips-model"), "x.onnx");
  EXPECT_EQ(request.settings.at("--lpips-range"), "-1..1");
}

TEST(CommandLine, OffsetsMayBeNegative) {
  EXPECT_EQ(parsed({"--offset", "-3"}).offset, -3);
  EXPECT_EQ(parsed({"--offset=-3"}).offset, -3);
}

TEST(CommandLine, RangesStartWithAMinus) {
  EXPECT_EQ(parsed({"--lpips-range", "-1..1"}).settings.at("--lpips-range"), "-1..1");
}

TEST(CommandLine, RawFormatsOfOneSideOrBoth) {
  const Request both = parsed({"--raw", "64x48:gray", "--raw-b", "64x48:yuv420p"});
  EXPECT_EQ(both.raw[0]->pixel_format, "gray");
  EXPECT_EQ(both.raw[1]->pixel_format, "yuv420p");
  EXPECT_FALSE(parsed({"--raw-a", "64x48:gray"}).raw[1]);
}

TEST(CommandLine, IdentityPixelLeavesOutTheDigests) {
  const Request request = parsed({"--identity", "pixel"});
  EXPECT_FALSE(request.levels.file || request.levels.stream || request.levels.frame);
}

}  // namespace
}  // namespace bitproof::metrics::test
