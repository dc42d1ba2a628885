// Everything a comparison found.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/identity/sha256.h"
#include "metrics/media/frame.h"
#include "metrics/media/source.h"
#include "metrics/metric/metric.h"
#include "metrics/result.h"

namespace bitproof::metrics {

enum class Verdict {
  identical,  // every compared sample has the same bits, and nothing failed
  different,  // comparable, and something differs
  failed,     // not comparable, not readable, or not to the end
};
std::string_view name(Verdict verdict);

// One level of identity. `identical` is empty when the level was not asked for or does not apply: see `reason`.
struct LevelResult {
  std::optional<bool> identical = {};
  std::string reason = {};
  std::optional<Digest> a = {}, b = {};
};

struct MetadataDifference {
  std::string name, a, b;
};

struct PixelPosition {
  std::uint64_t frame_a, frame_b;
  char plane;
  int x, y;
  double a, b;  // the samples there
};

struct PairResult {
  std::uint64_t index_a = 0, index_b = 0;
  bool identical = false;
  std::optional<std::uint64_t> squared_error;  // exact, over all planes; nothing for floating-point samples
  double mean_squared_error = 0;               // over all samples
  std::optional<Digest> digest_a, digest_b;
  std::vector<Summary> metrics;  // as Outcome::metrics
};

struct MetricResult {
  const MetricEntry* entry = nullptr;
  std::optional<double> threshold = {};
  Definition definition = {};
  Summary summary = {};  // of the clip; empty when no pair was measured
};

struct Outcome {
  std::array<SourceInfo, 2> inputs;
  std::array<std::optional<FrameFormat>, 2> formats;
  std::array<std::optional<std::uint64_t>, 2> frames;  // decoded to the end; nothing when that was not reached
  std::uint64_t compared = 0;
  std::int64_t offset = 0;

  LevelResult file, stream, frame;
  std::uint64_t equal_frame_digests = 0;
  std::uint64_t identical_frames = 0;              // by samples
  std::optional<std::uint64_t> squared_error = 0;  // total; nothing for floats or beyond 2^64
  std::optional<PixelPosition> first_difference;

  std::vector<MetricResult> metrics;
  std::vector<PairResult> worst;  // by squared error, greatest first; identical pairs left out
  std::vector<MetadataDifference> metadata_differences;
  std::vector<std::string> mismatches;
  std::vector<std::string> warnings;
  std::vector<Failure> failures;
  double seconds = 0;

  Verdict verdict() const;
  bool identical() const { return verdict() == Verdict::identical; }
  int exit_status() const;  // 0 compared, within all thresholds; 1 not; 2 unreadable input or bad request
};

// How a threshold on `score` turns out; empty: passed.
std::optional<Failure> check_threshold(const MetricResult& metric);

}  // namespace bitproof::metrics
