// FFmpeg's own psnr and ssim filters run beside ours, and every digit that they print has to be ours, for each
// frame and for the clip.
//
// FFmpeg runs with -cpuflags 0. The x86 code of its ssim filter (5.1) computes the last window of a row wrong
// for 8-bit planes whose rows hold 4k + 1 windows, such as a width of 104, by up to 1e-3 of the plane's value;
// its portable code, and the x86 code at other widths, agree with ours. The filter works in float: where our
// value lies within half a unit of float (2^-25) of a tie of the sixth decimal, either rounding is accepted.
// PSNR has no such allowance.
#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

using Printed = std::map<std::string, std::string>;  // key, digits

// The fields "key:digits" of a line.
Printed parse(const std::string& line) {
  std::istringstream fields(line);
  Printed printed;
  for (std::string field; fields >> field;)
    if (const std::size_t colon = field.find(':'); colon != std::string::npos)
      printed[field.substr(0, colon)] = field.substr(colon + 1);
  return printed;
}

std::string line_with(const std::string& text, const std::string& mark) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find(mark); at != std::string::npos) return line.substr(at);
  return "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// As FFmpeg prints it: "inf" for identical planes.
std::string digits(const Score& score, int decimals) {
  return score.value ? fmt::format("{:.{}f}", *score.value, decimals) : score.best ? "inf" : "none";
}

struct Rows final : Observer {
  std::vector<std::vector<Summary>> metrics;
  void on_pair(const Outcome&, const PairResult& result, const FramePair&) override {
    metrics.push_back(result.metrics);
  }
};

struct Pair {
  Shape shape;
  int noise_a, noise_b;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.shape.name << " " << pair.shape.width << "x" << pair.shape.height;
}

class SideBySide : public testing::TestWithParam<Pair> {};

TEST_P(SideBySide, EveryDigitThatFfmpegPrintsIsOurs) {
  const auto& [shape, noise_a, noise_b] = GetParam();
  const TemporaryDirectory folder;
  constexpr int kFrames = 4;
  const Clip a = make_clip(shape, kFrames, 1, noise_a);
  Clip b = make_clip(shape, kFrames, 2, noise_b);
  b[2] = a[2];  // one identical frame: infinite there, and left out nowhere else
  const std::string extension = shape.y4m.empty() ? "raw" : "y4m";
  const std::filesystem::path file_a = folder / ("a." + extension), file_b = folder / ("b." + extension);
  write_clip(file_a, shape, a);
  write_clip(file_b, shape, b);

  std::vector<std::string> arguments = {"-cpuflags", "0"};
  for (const auto& file : {file_a, file_b}) {
    if (shape.y4m.empty())
      arguments.insert(arguments.end(), {"-f", "rawvideo", "-pix_fmt", shape.name, "-s",
                                         fmt::format("{}x{}", shape.width, shape.height)});
    arguments.insert(arguments.end(), {"-i", file.string()});
  }
  const std::string psnr_log = (folder / "psnr").string(), ssim_log = (folder / "ssim").string();
  arguments.insert(
      arguments.end(),
      {"-lavfi", fmt::format("[0][1]psnr=f={};[0][1]ssim=f={}", psnr_log, ssim_log), "-f", "null", "-"});
  const std::string summary = ffmpeg(arguments);

  Rows rows;
  Observer* observers[] = {&rows};
  Request request = request_for(file_a, file_b);
  if (shape.y4m.empty()) request.raw[0] = request.raw[1] = *parse_raw_format(shape.raw());
  const Outcome outcome = compare(request, observers);
  ASSERT_EQ(outcome.compared, kFrames) << failure_text(outcome);

  int compared = 0, ties = 0;
  const auto expect = [&](const Printed& printed, const Summary& ours, const std::string& prefix, int decimals,
                          double half_unit) {
    for (const Score& score : ours.scores) {
      // FFmpeg says "average" in the summary and "avg" in the log, "All" and "Y" where ours are "all" and "y".
      const std::string key = prefix + (prefix == "psnr_" && score.key == "average" ? "avg" : score.key);
      if (!printed.contains(key)) continue;
      ++compared;
      if (printed.at(key) == digits(score, decimals)) continue;
      ++ties;
      EXPECT_TRUE(score.value &&
                  (printed.at(key) == fmt::format("{:.{}f}", *score.value - half_unit, decimals) ||
                   printed.at(key) == fmt::format("{:.{}f}", *score.value + half_unit, decimals)))
          << key << ": FFmpeg prints " << printed.at(key) << ", ours is "
          << fmt::format("{:.12f}", score.value.value_or(0));
    }
  };
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  constexpr double kHalfUnit = 0x1p-25;
  expect(parse(line_with(summary, "PSNR ")), outcome.metrics[0].summary, "", 6, 0);
  expect(parse(lower(line_with(summary, "SSIM "))), outcome.metrics[1].summary, "", 6, kHalfUnit);
  const std::vector<std::string> psnr_rows = lines_of(read_file(psnr_log)),
                                 ssim_rows = lines_of(read_file(ssim_log));
  ASSERT_EQ(psnr_rows.size(), kFrames);
  ASSERT_EQ(ssim_rows.size(), kFrames);
  for (std::size_t i = 0; i < kFrames; ++i) {
    expect(parse(psnr_rows[i]), rows.metrics[i][0], "psnr_", 2, 0);
    expect(parse(lower(ssim_rows[i])), rows.metrics[i][1], "", 6, kHalfUnit);
  }
  // Of the clip and of each frame: PSNR and SSIM, together and of each plane; gray has one plane.
  const int values = shape.planes + 1;
  EXPECT_EQ(compared, 2 * values * (1 + kFrames));
  EXPECT_LE(ties, 1);
}

std::vector<Pair> pairs() {
  const auto shape = [](const char* name, const char* y4m, int width, int height, int planes, int cx, int cy,
                        int depth) { return Shape{name, y4m, width, height, planes, cx, cy, depth}; };
  return {
      {shape("yuv420p", "420jpeg", 64, 48, 3, 1, 1, 8), 0, 3},
      {shape("yuv420p", "420jpeg", 67, 45, 3, 1, 1, 8), 2, 9},
      {shape("yuv420p", "420jpeg", 210, 122, 3, 1, 1, 8), 0, 1},
      {shape("yuv422p", "422", 48, 40, 3, 1, 0, 8), 0, 20},
      {shape("yuv422p", "422", 53, 39, 3, 1, 0, 8), 1, 2},
      {shape("yuv444p", "444", 40, 32, 3, 0, 0, 8), 0, 60},
      {shape("yuv444p", "444", 31, 37, 3, 0, 0, 8), 4, 5},
      {shape("gray", "mono", 64, 64, 1, 0, 0, 8), 0, 2},
      {shape("gray", "mono", 57, 33, 1, 0, 0, 8), 7, 11},
      {shape("yuv420p10le", "420p10", 64, 48, 3, 1, 1, 10), 0, 3},
      {shape("yuv420p10le", "420p10", 69, 51, 3, 1, 1, 10), 5, 40},
      {shape("yuv422p10le", "422p10", 62, 46, 3, 1, 0, 10), 0, 12},
      {shape("yuv444p10le", "444p10", 35, 34, 3, 0, 0, 10), 1, 200},
      {shape("gray10le", "mono10", 66, 50, 1, 0, 0, 10), 0, 9},
      {shape("yuv420p12le", "420p12", 50, 38, 3, 1, 1, 12), 0, 77},
      {shape("yuv444p16le", "", 41, 29, 3, 0, 0, 16), 0, 900},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, SideBySide, testing::ValuesIn(pairs()), [](const auto& pair) {
  const Shape& shape = pair.param.shape;
  return fmt::format("{}_{}x{}", shape.name, shape.width, shape.height);
});

}  // namespace
}  // namespace bitproof::metrics::test
