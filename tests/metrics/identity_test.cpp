// The digests are those that other tools print: sha256sum, and FFmpeg's streamhash and framehash.
#include <sstream>

#include <gtest/gtest.h>

#include "metrics/identity/sha256.h"
#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

struct FrameDigests final : Observer {
  std::vector<std::string> a;
  void on_pair(const Outcome&, const PairResult& result, const FramePair&) override {
    a.push_back(result.digest_a.value().hex());
  }
};

std::vector<std::string> framehash(const std::filesystem::path& file) {
  std::istringstream lines(
      ffmpeg({"-v", "error", "-i", file.string(), "-map", "0:v:0", "-f", "framehash", "-hash", "sha256", "-"}));
  std::vector<std::string> digests;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') digests.push_back(line.substr(line.rfind(' ') + 1));
  return digests;
}

std::vector<std::string> our_digests(const std::filesystem::path& file) {
  FrameDigests digests;
  Observer* observers[] = {&digests};
  const Outcome outcome = compare(request_for(file, file), observers);
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
  return digests.a;
}

TEST(Identity, Sha256OfTheEmptyStringAndOfAbc) {
  // FIPS 180-4's examples.
  Sha256 sha;
  EXPECT_EQ(sha.finish().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string abc = "abc";
  sha.update(std::as_bytes(std::span(abc)));
  EXPECT_EQ(sha.finish().hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Identity, FrameDigestsAreFfmpegsFramehash) {
  for (const char* clip : {"clips/pair81_a.mp4", "clips/ten_bit.mkv", "clips/alpha_a.mkv"})
    EXPECT_EQ(our_digests(fixture(clip)), framehash(fixture(clip))) << clip;
}

TEST(Identity, FrameDigestsOfPackedAndPalettedFramesAreFfmpegsFramehash) {
  const TemporaryDirectory folder;
  for (const char* format :
       {"rgb24", "bgr0", "nv12", "yuyv422", "gbrp10le", "pal8", "monob", "ya8", "rgb565le"}) {
    const std::filesystem::path file = folder / (std::string(format) + ".nut");
    ffmpeg({"-v", "error", "-f", "lavfi", "-i", "testsrc2=size=34x26:rate=5", "-frames:v", "2", "-pix_fmt",
            format, "-c:v", "rawvideo", file.string()});
    EXPECT_EQ(our_digests(file), framehash(file)) << format;
  }
}

TEST(Identity, DigestsOfPicturesAreFfmpegsFramehash) {
  for (const char* picture : {"clips/gray_a.png", "clips/rgb_a.png"})
    EXPECT_EQ(our_digests(fixture(picture)), framehash(fixture(picture))) << picture;
}

TEST(Identity, FileDigestIsSha256sumsAndStreamDigestIsFfmpegsStreamhash) {
  const std::filesystem::path clip = fixture("clips/pair81_a.mp4");
  const Outcome outcome = compare_files(clip, clip);
  const std::string printed = run({"sha256sum", clip.string()}).output;
  EXPECT_EQ(outcome.file.a.value().hex(), printed.substr(0, 64));
  const std::string stream = ffmpeg({"-v", "error", "-i", clip.string(), "-map", "0:v:0", "-c", "copy", "-f",
                                     "streamhash", "-hash", "sha256", "-"});
  EXPECT_NE(stream.find(outcome.stream.a.value().hex()), std::string::npos) << stream;
}

TEST(Identity, TheFileOfAFolderOfPicturesIsTheirConcatenation) {
  const TemporaryDirectory folder;
  const std::string bytes = read_file(fixture("clips/gray_a.png"));
  write_file(folder / "f1.png", bytes);
  write_file(folder / "f2.png", bytes);
  Sha256 sha;
  sha.update(std::as_bytes(std::span(bytes)));
  sha.update(std::as_bytes(std::span(bytes)));
  const Outcome outcome = compare_files(folder.path(), folder.path());
  EXPECT_EQ(outcome.file.a, sha.finish());
  EXPECT_EQ(outcome.compared, 2U);
  EXPECT_FALSE(outcome.stream.identical);  // pictures have no packets
}

TEST(Identity, LevelsThatWereNotAskedForSaySo) {
  Request request = request_for(fixture("clips/ten_bit.mkv"), fixture("clips/ten_bit.mkv"));
  request.levels = {.file = false, .stream = false, .frame = false};
  const Outcome outcome = compare(request, {});
  EXPECT_TRUE(outcome.identical());
  for (const LevelResult* level : {&outcome.file, &outcome.stream, &outcome.frame}) {
    EXPECT_FALSE(level->identical);
    EXPECT_EQ(level->reason, "not asked for");
  }
}

}  // namespace
}  // namespace bitproof::metrics::test
