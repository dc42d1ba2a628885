// Frames are paired by their number. Containers, rates, start times, rotation and edit lists are metadata.
#include <limits>

#include <gtest/gtest.h>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

const MetadataDifference* find_difference(const Outcome& outcome, std::string_view name) {
  for (const MetadataDifference& difference : outcome.metadata_differences)
    if (difference.name.starts_with(name)) return &difference;
  return nullptr;
}

// The clip's stream, not encoded anew, by way of FFmpeg's arguments before and after the input.
Outcome compare_with_remuxed(const std::string& name, const std::vector<std::string>& before,
                             const std::vector<std::string>& after) {
  const TemporaryDirectory folder;
  const std::filesystem::path clip = fixture("clips/pair81_a.mp4"), other = folder / name;
  std::vector<std::string> arguments = {"-v", "error"};
  arguments.insert(arguments.end(), before.begin(), before.end());
  arguments.insert(arguments.end(), {"-i", clip.string(), "-c", "copy"});
  arguments.insert(arguments.end(), after.begin(), after.end());
  arguments.push_back(other.string());
  ffmpeg(arguments);
  return compare_files(clip, other);
}

void expect_same_pixels(const Outcome& outcome) {
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
  EXPECT_EQ(outcome.compared, 81U);
  EXPECT_EQ(outcome.identical_frames, 81U);
  EXPECT_EQ(outcome.squared_error, 0U);
  EXPECT_EQ(outcome.exit_status(), 0);
  EXPECT_EQ(outcome.file.identical, false);
}

TEST(Pairing, Mp4AgainstMatroska) {
  const Outcome outcome = compare_with_remuxed("a.mkv", {}, {});
  expect_same_pixels(outcome);
  EXPECT_EQ(outcome.stream.identical, true);  // the same packets in another file
  EXPECT_NE(find_difference(outcome, "container"), nullptr);
}

TEST(Pairing, AnotherFrameRate) {
  // Time stamps scaled to 32 frames a second from 16.
  const Outcome outcome = compare_with_remuxed("a.mp4", {"-itsscale", "0.5"}, {});
  expect_same_pixels(outcome);
  const MetadataDifference* rate = find_difference(outcome, "frame rate");
  ASSERT_NE(rate, nullptr);
  EXPECT_EQ(rate->a, "16/1");
  EXPECT_NE(rate->b, "16/1");
  const MetadataDifference* times = find_difference(outcome, "time stamps, from frame 1 on");
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->a, "0.062500 s");
  EXPECT_EQ(times->b, "0.031250 s");
}

TEST(Pairing, AShiftedStart) {
  const Outcome outcome = compare_with_remuxed("a.mkv", {"-itsoffset", "1.5"}, {});
  expect_same_pixels(outcome);
  EXPECT_NE(find_difference(outcome, "start time"), nullptr);
}

TEST(Pairing, AnEditListThatCutsIsReportedAndNotApplied) {
  const Outcome outcome = compare_with_remuxed("a.mp4", {"-ss", "1.3"}, {});
  expect_same_pixels(outcome);
  EXPECT_NE(find_difference(outcome, "edit list"), nullptr);
}

TEST(Pairing, RotationIsReportedAndNotApplied) {
  const Outcome outcome = compare_with_remuxed("a.mp4", {}, {"-metadata:s:v", "rotate=90"});
  expect_same_pixels(outcome);
  EXPECT_NE(find_difference(outcome, "rotation"), nullptr);
}

TEST(Pairing, AMirroredDisplayIsReportedAndNotApplied) {
  const TemporaryDirectory folder;
  std::string bytes = read_file(fixture("clips/pair81_a.mp4"));
  // The unity matrices of the movie header and, second, of the track header; a becomes -1.
  const std::string unity("\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0", 20);
  const std::size_t track = bytes.find(unity, bytes.find(unity) + 1);
  ASSERT_NE(track, std::string::npos);
  bytes.replace(track, 4, std::string("\xff\xff\0\0", 4));
  write_file(folder / "b.mp4", bytes);
  const Outcome outcome = compare_files(fixture("clips/pair81_a.mp4"), folder / "b.mp4");
  expect_same_pixels(outcome);
  const MetadataDifference* rotation = find_difference(outcome, "rotation");
  ASSERT_NE(rotation, nullptr);
  EXPECT_EQ(rotation->a, "0");
  EXPECT_NE(rotation->b.find(", mirrored"), std::string::npos) << rotation->b;
}

TEST(Pairing, ABareStreamOfTheSameVideo) {
  const Outcome outcome = compare_with_remuxed("a.ts", {}, {});
  expect_same_pixels(outcome);
}

struct Indices final : Observer {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  void on_pair(const Outcome&, const PairResult& result, const FramePair&) override {
    pairs.emplace_back(result.index_a, result.index_b);
  }
};

class Offsets : public testing::Test {
 protected:
  // B is A with three frames in front.
  void SetUp() override {
    const Shape shape = small_shape();
    const Clip b = make_clip(shape, 8, 1, 3);
    write_clip(folder_ / "b.y4m", shape, b);
    write_clip(folder_ / "a.y4m", shape, Clip(b.begin() + 3, b.end()));
  }
  TemporaryDirectory folder_;
};

TEST_F(Offsets, AlignInEitherDirection) {
  Indices indices;
  Observer* observers[] = {&indices};
  Request request = request_for(folder_ / "a.y4m", folder_ / "b.y4m");
  request.offset = 3;
  const Outcome forward = compare(request, observers);
  EXPECT_TRUE(forward.identical()) << failure_text(forward);
  EXPECT_EQ(forward.compared, 5U);
  EXPECT_EQ(forward.frames[0], 5U);
  EXPECT_EQ(forward.frames[1], 8U);
  EXPECT_EQ(indices.pairs.front(), std::make_pair(std::uint64_t{0}, std::uint64_t{3}));

  Request reversed = request_for(folder_ / "b.y4m", folder_ / "a.y4m");
  reversed.offset = -3;
  const Outcome backward = compare(reversed, {});
  EXPECT_TRUE(backward.identical()) << failure_text(backward);
  EXPECT_EQ(backward.compared, 5U);
}

TEST_F(Offsets, BeyondTheEndIsAFailureOfLength) {
  for (const std::int64_t offset : {std::int64_t{9}, std::numeric_limits<std::int64_t>::min()}) {
    Request request = request_for(folder_ / "a.y4m", folder_ / "b.y4m");
    request.offset = offset;
    const Outcome outcome = compare(request, {});
    EXPECT_TRUE(has_failure(outcome, FailureKind::length));
    EXPECT_EQ(outcome.exit_status(), 1);
  }
}

TEST_F(Offsets, ARestNamesTheOffset) {
  Request request = request_for(folder_ / "b.y4m", folder_ / "b.y4m");
  request.offset = 2;
  EXPECT_NE(failure_text(compare(request, {})).find("different lengths at --offset 2: A has 8 frames, B has 8"),
            std::string::npos);
}

TEST_F(Offsets, AllowPrefixAcceptsTheRest) {
  const Shape shape = small_shape();
  const Clip clip = make_clip(shape, 6, 1, 3);
  write_clip(folder_ / "long.y4m", shape, clip);
  write_clip(folder_ / "short.y4m", shape, Clip(clip.begin(), clip.begin() + 4));
  Request request = request_for(folder_ / "long.y4m", folder_ / "short.y4m");
  request.allow_prefix = true;
  const Outcome outcome = compare(request, {});
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
  EXPECT_EQ(outcome.compared, 4U);
  EXPECT_EQ(outcome.frames[0], 6U);
  EXPECT_EQ(outcome.frames[1], 4U);
}

TEST(Pairing, ThreadsChangeNothing) {
  Request request = request_for(fixture("clips/pair81_a.mp4"), fixture("clips/pair81_b.mp4"));
  const Outcome one = compare(request, {});
  request.threads = 4;
  const Outcome four = compare(request, {});
  EXPECT_EQ(one.squared_error, four.squared_error);
  EXPECT_EQ(*score_of(one, "ssim", "all").one_minus, *score_of(four, "ssim", "all").one_minus);
  EXPECT_EQ(*score_of(one, "psnr", "average").value, *score_of(four, "psnr", "average").value);
}

}  // namespace
}  // namespace bitproof::metrics::test
