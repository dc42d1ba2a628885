#include "tests/metrics/support/clip.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {
namespace {

// SplitMix64's finaliser.
std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Integer triangle waves, so that no library's sine decides a sample.
int triangle(int position, int period) {
  const int phase = position % period;
  return std::min(phase, period - phase);
}

}  // namespace

int Shape::plane_width(int plane) const {
  return plane == 0 ? width : (width + (1 << chroma_x) - 1) >> chroma_x;
}
int Shape::plane_height(int plane) const {
  return plane == 0 ? height : (height + (1 << chroma_y) - 1) >> chroma_y;
}
std::string Shape::raw() const { return fmt::format("{}x{}:{}", width, height, name); }

Clip make_clip(const Shape& shape, int frames, std::uint64_t seed, int noise) {
  const int peak = (1 << shape.depth) - 1;
  Clip clip;
  for (int frame = 0; frame < frames; ++frame) {
    Picture picture;
    for (int plane = 0; plane < shape.planes; ++plane) {
      Plane samples;
      for (int y = 0; y < shape.plane_height(plane); ++y) {
        for (int x = 0; x < shape.plane_width(plane); ++x) {
          const int wave =
              triangle(x + 3 * frame + 7 * plane, 26) * peak / 39 + triangle(2 * y + frame, 34) * peak / 51;
          const auto position =
              static_cast<std::uint64_t>(((frame * 4 + plane) * std::int64_t{4096} + y) * 4096 + x);
          const int random =
              static_cast<int>(mix64(mix64(seed) ^ position) % static_cast<std::uint64_t>(2 * noise + 1));
          samples.push_back(static_cast<std::uint16_t>(std::clamp(wave + random - noise, 0, peak)));
        }
      }
      picture.push_back(std::move(samples));
    }
    clip.push_back(std::move(picture));
  }
  return clip;
}

void write_clip(const std::filesystem::path& file, const Shape& shape, const Clip& clip) {
  std::string bytes;
  if (!shape.y4m.empty())
    bytes = fmt::format("YUV4MPEG2 W{} H{} F25:1 Ip A1:1 C{}\n", shape.width, shape.height, shape.y4m);
  for (const Picture& picture : clip) {
    if (!shape.y4m.empty()) bytes += "FRAME\n";
    for (const Plane& plane : picture) {
      for (const std::uint16_t sample : plane) {
        bytes += static_cast<char>(sample & 0xff);
        if (shape.depth > 8) bytes += static_cast<char>(sample >> 8);
      }
    }
  }
  write_file(file, bytes);
}

Shape small_shape() { return {"yuv420p", "420jpeg", 64, 48, 3, 1, 1, 8}; }

Request request_for(const std::filesystem::path& a, const std::filesystem::path& b) {
  Request request;
  request.inputs = {a, b};
  request.threads = 1;
  for (const MetricEntry& entry : metric_registry()) {
    if (entry.by_default) request.metrics.push_back({&entry, std::nullopt});
    for (const MetricOption& option : entry.options) request.settings[option.flag] = option.fallback;
  }
  return request;
}

Outcome compare_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  return compare(request_for(a, b), {});
}

const Score& score_of(const Outcome& outcome, std::string_view metric, std::string_view key) {
  for (const MetricResult& result : outcome.metrics)
    if (result.entry->name == metric)
      if (const Score* score = result.summary.find(key)) return *score;
  throw std::runtime_error(fmt::format("no score {} of {}: {}", key, metric, failure_text(outcome)));
}

bool has_failure(const Outcome& outcome, FailureKind kind) {
  return std::any_of(outcome.failures.begin(), outcome.failures.end(),
                     [&](const Failure& failure) { return failure.kind == kind; });
}

std::string failure_text(const Outcome& outcome) {
  std::string text;
  for (const Failure& failure : outcome.failures) text += failure.message + "\n";
  return text;
}

}  // namespace bitproof::metrics::test
