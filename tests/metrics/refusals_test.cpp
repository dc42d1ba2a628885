// Inputs that cannot be compared, or not to the end: each with its message and exit status.
#include <gtest/gtest.h>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

class Refusals : public testing::Test {
 protected:
  std::filesystem::path clip(std::string_view name, const Shape& shape, int frames) {
    const std::filesystem::path file = folder_ / name;
    write_clip(file, shape, make_clip(shape, frames, 1, 3));
    return file;
  }

  void expect(const Outcome& outcome, int status, FailureKind kind, std::string_view message) {
    EXPECT_EQ(outcome.exit_status(), status);
    EXPECT_EQ(outcome.verdict(), Verdict::failed);
    EXPECT_TRUE(has_failure(outcome, kind)) << failure_text(outcome);
    EXPECT_NE(failure_text(outcome).find(message), std::string::npos) << failure_text(outcome);
  }

  TemporaryDirectory folder_;
};

TEST_F(Refusals, DifferentLengthsPrintBoth) {
  const Outcome outcome = compare_files(clip("a.y4m", small_shape(), 5), clip("b.y4m", small_shape(), 3));
  expect(outcome, 1, FailureKind::length, "A has 5 frames, B has 3; the first 3 pairs were compared");
  EXPECT_EQ(outcome.frames[0], 5U);
  EXPECT_EQ(outcome.frames[1], 3U);
  EXPECT_EQ(outcome.compared, 3U);
}

TEST_F(Refusals, ATruncatedFileOfBareFramesNamesTheFrame) {
  const std::filesystem::path whole = clip("a.y4m", small_shape(), 5);
  const std::string bytes = read_file(whole);
  write_file(folder_ / "b.y4m", bytes.substr(0, bytes.size() - 100));
  const Outcome outcome = compare_files(whole, folder_ / "b.y4m");
  expect(outcome, 1, FailureKind::decode, "decoding failed at frame 4, after 4 good frames");
  EXPECT_EQ(outcome.compared, 4U);
}

TEST_F(Refusals, ATruncatedFileIsNotIdenticalToItself) {
  for (const char* extension : {"y4m", "mp4", "mkv"}) {
    const std::filesystem::path whole = folder_ / ("whole." + std::string(extension));
    std::vector<std::string> arguments = {
        "-v", "error", "-i", fixture("clips/pair81_a.mp4").string(), "-movflags", "+faststart"};
    if (std::string(extension) != "y4m") arguments.insert(arguments.end(), {"-c", "copy"});
    arguments.push_back(whole.string());
    ffmpeg(arguments);
    const std::string bytes = read_file(whole);
    const std::filesystem::path cut = folder_ / ("cut." + std::string(extension));
    write_file(cut, bytes.substr(0, bytes.size() * 6 / 10));
    const Outcome outcome = compare_files(cut, cut);
    expect(outcome, 1, FailureKind::decode, "decoding failed at frame");
    EXPECT_GT(outcome.compared, 10U) << extension;
  }
}

TEST_F(Refusals, AFlippedBitInACheckedStreamNamesTheFrame) {
  // FFV1's slices carry checksums; the byte lies in the last fifth of the file, within a frame.
  std::string bytes = read_file(fixture("clips/ten_bit.mkv"));
  bytes[bytes.size() * 4 / 5] = static_cast<char>(bytes[bytes.size() * 4 / 5] ^ 0x10);
  write_file(folder_ / "b.mkv", bytes);
  const Outcome outcome = compare_files(fixture("clips/ten_bit.mkv"), folder_ / "b.mkv");
  expect(outcome, 1, FailureKind::decode, "B: ");
  EXPECT_NE(failure_text(outcome).find("decoding failed at frame 9, after 9 good frames"), std::string::npos)
      << failure_text(outcome);
  EXPECT_EQ(outcome.compared, 9U);
}

TEST_F(Refusals, AFileThatIsNotAVideo) {
  write_file(folder_ / "b.txt", "nothing to see here\n");
  expect(compare_files(clip("a.y4m", small_shape(), 2), folder_ / "b.txt"), 2, FailureKind::unreadable,
         "is no video that FFmpeg can open");
}

TEST_F(Refusals, TextIsNotAVideoWhateverItsName) {
  // FFmpeg draws files of these names as pictures of text.
  std::string text;
  for (int line = 0; line < 60; ++line) text += "line " + std::to_string(line) + " of a plain text\n";
  for (const char* name : {"b.txt", "b.nfo", "b.asc"}) {
    write_file(folder_ / name, text);
    expect(compare_files(folder_ / name, folder_ / name), 2, FailureKind::unreadable, "is no video");
  }
}

TEST_F(Refusals, AListOfVideosIsNotAVideo) {
  clip("a.y4m", small_shape(), 2);
  write_file(folder_ / "b.ffconcat", "ffconcat version 1.0\nfile a.y4m\n");
  expect(compare_files(folder_ / "a.y4m", folder_ / "b.ffconcat"), 2, FailureKind::unreadable,
         "is no video, but refers to other files");
}

TEST_F(Refusals, AnEmptyFile) {
  write_file(folder_ / "b.mp4", "");
  expect(compare_files(clip("a.y4m", small_shape(), 2), folder_ / "b.mp4"), 2, FailureKind::unreadable,
         "the file is empty");
}

TEST_F(Refusals, AFileThatDoesNotExist) {
  const Outcome outcome = compare_files(folder_ / "no.mp4", folder_ / "neither.mp4");
  expect(outcome, 2, FailureKind::unreadable, "A: " + (folder_ / "no.mp4").string() + ": no such file");
  EXPECT_EQ(outcome.failures.size(), 2U);  // both are named
}

TEST_F(Refusals, AVideoWithoutAFrame) {
  expect(compare_files(clip("a.y4m", small_shape(), 0), clip("b.y4m", small_shape(), 2)), 2,
         FailureKind::unreadable, "");
}

TEST_F(Refusals, SoundWithoutPictures) {
  ffmpeg({"-v", "error", "-f", "lavfi", "-i", "sine=duration=0.1", (folder_ / "b.wav").string()});
  expect(compare_files(clip("a.y4m", small_shape(), 2), folder_ / "b.wav"), 2, FailureKind::unreadable,
         "holds no video stream");
}

TEST_F(Refusals, AnAlphaOnlyChangeIsADifference) {
  const Outcome outcome = compare_files(fixture("clips/alpha_a.mkv"), fixture("clips/alpha_b.mkv"));
  EXPECT_EQ(outcome.verdict(), Verdict::different);
  EXPECT_EQ(outcome.exit_status(), 0);
  // 4 frames of 32x24 alpha samples, each off by one.
  EXPECT_EQ(outcome.squared_error, 4U * 32 * 24);
  EXPECT_TRUE(score_of(outcome, "psnr", "y").best);
  EXPECT_FALSE(score_of(outcome, "psnr", "a").best);
  EXPECT_LT(*score_of(outcome, "ssim", "all").value, 1.0);
}

TEST_F(Refusals, TenBitsAgainstEight) {
  const Shape ten{"yuv420p10le", "420p10", 64, 48, 3, 1, 1, 10};
  const std::filesystem::path a = clip("a.y4m", small_shape(), 2), b = clip("b.y4m", ten, 2);
  expect(compare_files(a, b), 1, FailureKind::mismatch, "depths differ: A has 8 bit, B has 10 bit samples");

  Request request = request_for(a, b);
  request.on_mismatch = OnMismatch::warn;
  const Outcome warned = compare(request, {});
  EXPECT_EQ(warned.exit_status(), 0) << failure_text(warned);
  EXPECT_FALSE(warned.identical());
  EXPECT_NE(std::find(warned.warnings.begin(), warned.warnings.end(), "plane y of A is shifted left by 2 bit"),
            warned.warnings.end());
}

TEST_F(Refusals, FullRangeAgainstLimited) {
  for (const char* range : {"tv", "pc"})
    ffmpeg({"-v", "error", "-i", clip("a.y4m", small_shape(), 2).string(), "-c:v", "ffv1", "-color_range",
            range, (folder_ / (std::string(range) + ".mkv")).string()});
  expect(compare_files(folder_ / "tv.mkv", folder_ / "pc.mkv"), 1, FailureKind::mismatch,
         "ranges differ: A is limited, B is full");

  Request request = request_for(folder_ / "tv.mkv", folder_ / "pc.mkv");
  request.on_mismatch = OnMismatch::warn;
  const Outcome warned = compare(request, {});
  EXPECT_EQ(warned.squared_error, 0U);              // the same samples
  EXPECT_EQ(warned.verdict(), Verdict::different);  // which mean different colours
}

TEST_F(Refusals, AnotherSize) {
  Shape taller = small_shape();
  taller.height = 50;
  expect(compare_files(clip("a.y4m", small_shape(), 2), clip("b.y4m", taller, 2)), 1, FailureKind::mismatch,
         "sizes differ: A is 64x48, B is 64x50");
}

TEST_F(Refusals, ASizeThatChangesMidway) {
  // Two streams of JPEG one after the other, which begin as a picture does.
  for (const char* size : {"64x48", "32x32"})
    ffmpeg({"-v", "error", "-f", "lavfi", "-i", "testsrc2=rate=25:size=" + std::string(size), "-frames:v", "3",
            (folder_ / (std::string(size) + ".mjpeg")).string()});
  write_file(folder_ / "b.mjpeg", read_file(folder_ / "64x48.mjpeg") + read_file(folder_ / "32x32.mjpeg"));
  const Outcome outcome = compare_files(folder_ / "b.mjpeg", folder_ / "b.mjpeg");
  expect(outcome, 1, FailureKind::mismatch, "the format changes at frame 3");
}

TEST_F(Refusals, AConstantPictureComparesLikeAnyOther) {
  const Shape shape = small_shape();
  Clip flat(2, Picture{Plane(64 * 48, 128), Plane(32 * 24, 128), Plane(32 * 24, 128)});
  write_clip(folder_ / "a.y4m", shape, flat);
  for (auto& picture : flat) std::fill(picture[0].begin(), picture[0].end(), std::uint16_t{130});
  write_clip(folder_ / "b.y4m", shape, flat);
  const Outcome outcome = compare_files(folder_ / "a.y4m", folder_ / "b.y4m");
  EXPECT_EQ(outcome.exit_status(), 0);
  EXPECT_EQ(outcome.squared_error, 2U * 64 * 48 * 4);
  // Only the luminance term differs: 1 - SSIM = (A-B)^2 / (A^2 + B^2 + c1), A = 64*128, B = 64*130, c1 = 416.
  const double a = 8192, b = 8320;
  EXPECT_NEAR(*score_of(outcome, "ssim", "y").one_minus, (a - b) * (a - b) / (a * a + b * b + 416), 1e-15);
}

TEST_F(Refusals, SevenBySevenSamplesAreTooFewForSsim) {
  const Shape tiny{"gray", "mono", 7, 7, 1, 0, 0, 8};
  const std::filesystem::path a = clip("a.y4m", tiny, 2);
  Clip other = make_clip(tiny, 2, 9, 3);
  write_clip(folder_ / "b.y4m", tiny, other);
  Request request = request_for(a, folder_ / "b.y4m");
  const Outcome outcome = compare(request, {});
  EXPECT_EQ(outcome.exit_status(), 0) << failure_text(outcome);
  EXPECT_TRUE(score_of(outcome, "psnr", "average").value);
  const Score& ssim = score_of(outcome, "ssim", "all");
  EXPECT_FALSE(ssim.value);
  EXPECT_EQ(ssim.reason, "not applicable: plane y: 7x7 samples are too few for an 8x8 window");

  request.metrics[1].threshold = 0.5;  // a threshold on what cannot be measured is not met
  EXPECT_EQ(compare(request, {}).exit_status(), 1);
}

TEST_F(Refusals, APictureAgainstAFolder) {
  const std::filesystem::path folder = folder_ / "pictures";
  std::filesystem::create_directory(folder);
  const std::string bytes = read_file(fixture("clips/gray_a.png"));
  for (const char* name : {"1.png", "2.png", "3.png"}) write_file(folder / name, bytes);
  expect(compare_files(fixture("clips/gray_a.png"), folder), 1, FailureKind::length, "A has 1 frames, B has 3");
}

}  // namespace
}  // namespace bitproof::metrics::test
