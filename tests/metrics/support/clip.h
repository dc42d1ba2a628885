// Made-up clips, the same on every machine, written as YUV4MPEG2 or as bare frames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "metrics/compare/comparison.h"

namespace bitproof::metrics::test {

struct Shape {
  std::string name;  // FFmpeg's pixel format
  std::string y4m;   // colour tag of YUV4MPEG2; empty: bare frames
  int width, height;
  int planes, chroma_x, chroma_y;  // chroma subsampling as shifts
  int depth;

  int plane_width(int plane) const;
  int plane_height(int plane) const;
  std::string raw() const;  // for --raw
};

using Plane = std::vector<std::uint16_t>;  // row by row
using Picture = std::vector<Plane>;
using Clip = std::vector<Picture>;

// Waves with noise. Clips of one shape and different noise seeds show the same waves; `noise` is its amplitude.
Clip make_clip(const Shape& shape, int frames, std::uint64_t seed, int noise);

void write_clip(const std::filesystem::path& file, const Shape& shape, const Clip& clip);

// 64x48, 4:2:0, 8 bit: windows cover all of luma and chroma.
Shape small_shape();

// A request with the default metrics, on one thread.
Request request_for(const std::filesystem::path& a, const std::filesystem::path& b);
Outcome compare_files(const std::filesystem::path& a, const std::filesystem::path& b);

const Score& score_of(const Outcome& outcome, std::string_view metric, std::string_view key);
bool has_failure(const Outcome& outcome, FailureKind kind);
std::string failure_text(const Outcome& outcome);

}  // namespace bitproof::metrics::test
