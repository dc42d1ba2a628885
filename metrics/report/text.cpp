#include "metrics/report/text.h"

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

constexpr double kReadsAsOne = 1e-5;  // 1 - value, below which six decimals hide the difference

std::string digits(const std::optional<Digest>& digest) { return digest ? digest->hex() : std::string(); }

}  // namespace

std::string show(const Score& score) {
  if (!score.value) return score.best ? "infinite" : "n/a";
  if (score.one_minus) {
    if (*score.one_minus == 0) return "1";
    if (*score.one_minus < kReadsAsOne) return fmt::format("1 - {:.1e}", *score.one_minus);
  }
  if (score.best) return fmt::format("{:g}", *score.value);
  return fmt::format("{:.6f}", *score.value);
}

std::string show_with_unit(const Score& score, const std::string& unit) {
  std::string text = show(score);
  return score.value && !unit.empty() ? fmt::format("{} {}", text, unit) : text;
}

std::string show(const PixelPosition& position) {
  const std::string frame = position.frame_a == position.frame_b
                                ? fmt::format("frame {}", position.frame_a)
                                : fmt::format("frame {} of A and {} of B", position.frame_a, position.frame_b);
  return fmt::format("{}, plane {}, x {}, y {}: {:.9g} in A, {:.9g} in B", frame, position.plane, position.x,
                     position.y, position.a, position.b);
}

std::string show_level(const LevelResult& level) {
  if (!level.identical) return level.reason;
  return *level.identical ? "identical" : "different";
}

std::string show_error(const PairResult& pair) {
  return pair.squared_error ? fmt::format("{}", *pair.squared_error)
                            : fmt::format("{:.6g} (mean)", pair.mean_squared_error);
}

std::string headline(const Outcome& outcome) {
  switch (outcome.verdict()) {
    case Verdict::identical:
      return fmt::format("all {} compared frames are identical", outcome.compared);
    case Verdict::different:
      if (outcome.identical_frames == outcome.compared)
        return fmt::format("the samples of all {} compared frames are equal, their formats are not",
                           outcome.compared);
      return fmt::format("{} of {} compared frames differ", outcome.compared - outcome.identical_frames,
                         outcome.compared);
    case Verdict::failed:
      if (outcome.compared == 0) return "nothing was compared";
      return fmt::format("stopped or not comparable to the end: {} frames compared, {} of them different",
                         outcome.compared, outcome.compared - outcome.identical_frames);
  }
  return "";
}

std::vector<LevelRow> level_rows(const Outcome& outcome) {
  const auto counted = [&](std::uint64_t equal) {
    return fmt::format("{} of {} equal", equal, outcome.compared);
  };
  std::string pixels =
      outcome.compared == 0 ? "no pair of frames was compared" : counted(outcome.identical_frames);
  if (outcome.compared > 0 && outcome.squared_error)
    pixels += fmt::format(", squared error {}", *outcome.squared_error);
  return {
      {"file", show_level(outcome.file), digits(outcome.file.a), digits(outcome.file.b)},
      {"stream", show_level(outcome.stream), digits(outcome.stream.a), digits(outcome.stream.b)},
      {"frame", outcome.frame.identical ? counted(outcome.equal_frame_digests) : outcome.frame.reason, "", ""},
      {"pixel", std::move(pixels), "", ""}};
}

}  // namespace bitproof::metrics
