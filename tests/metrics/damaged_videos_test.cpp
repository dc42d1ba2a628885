// A corpus of damaged videos: whatever the damage, a comparison ends with an answer and never calls different
// frames identical. Run under AddressSanitizer and UndefinedBehaviorSanitizer by the asan preset.
#include <gtest/gtest.h>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

std::uint64_t next_random(std::uint64_t& state) {  // Knuth's MMIX generator, high bits
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 33;
}

std::string damaged(std::string bytes, std::uint64_t seed) {
  std::uint64_t state = seed;
  switch (seed % 3) {
    case 0:  // flipped bits
      for (int i = 0; i < 8; ++i) {
        char& byte = bytes[next_random(state) % bytes.size()];
        byte = static_cast<char>(byte ^ (1 << next_random(state) % 8));
      }
      break;
    case 1:  // cut short
      bytes.resize(next_random(state) % bytes.size());
      break;
    default:  // a hole
      const std::size_t at = next_random(state) % bytes.size();
      bytes.erase(at, 1 + next_random(state) % 200);
  }
  return bytes;
}

class DamagedVideos : public testing::TestWithParam<const char*> {};

TEST_P(DamagedVideos, EndWithAnAnswerAndAreNeverIdenticalByMistake) {
  const TemporaryDirectory folder;
  const std::filesystem::path whole = folder / (std::string("whole.") + GetParam());
  ffmpeg({"-v", "error", "-f", "lavfi", "-i", "testsrc2=size=48x32:rate=25,format=yuv420p", "-frames:v", "6",
          "-threads", "1", whole.string()});
  const std::string bytes = read_file(whole);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::filesystem::path file = folder / (std::to_string(seed) + "." + GetParam());
    write_file(file, damaged(bytes, seed));
    const Outcome outcome = compare_files(whole, file);
    const int status = outcome.exit_status();
    EXPECT_TRUE(status == 0 || status == 1 || status == 2);
    EXPECT_EQ(status == 0, outcome.failures.empty());
    if (outcome.identical()) {
      EXPECT_EQ(outcome.identical_frames, 6U) << seed;
      EXPECT_EQ(outcome.equal_frame_digests, 6U) << seed;
      EXPECT_EQ(outcome.squared_error, 0U) << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, DamagedVideos,
                         testing::Values("mp4", "mkv", "y4m", "avi", "webm", "mpg", "gif"),
                         [](const auto& container) { return std::string(container.param); });

}  // namespace
}  // namespace bitproof::metrics::test
