#include "metrics/compare/comparison.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "metrics/compare/compatibility.h"
#include "metrics/compare/metadata.h"
#include "metrics/compare/pixels.h"
#include "metrics/identity/file_digest.h"
#include "metrics/media/open.h"

namespace bitproof::metrics {
namespace {

using SourcePtr = std::unique_ptr<FrameSource>;
constexpr std::array<char, 2> kSides = {'A', 'B'};

// One input while it is read.
struct Reader {
  SourcePtr source;
  std::uint64_t frames = 0;
  std::shared_ptr<const FrameFormat> format;  // of its first frame
};

class Comparison {
 public:
  Comparison(const Request& request, std::span<Observer* const> observers)
      : request_(request), observers_(observers) {}

  Outcome run() {
    const auto begin = std::chrono::steady_clock::now();
    outcome_.offset = request_.offset;
    if (create_metrics() && open() && skip_offset()) compare_pairs();
    summarise();
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (Observer* observer : observers_) observer->on_finish(outcome_);
    return std::move(outcome_);
  }

 private:
  enum class Step { more, done };

  bool fail(Failure failure) {
    outcome_.failures.push_back(std::move(failure));
    return false;
  }

  bool create_metrics() {
    for (const SelectedMetric& selected : request_.metrics) {
      Result<std::unique_ptr<Metric>> metric = selected.entry->create(request_.settings);
      if (!metric) return fail(metric.failure());
      metrics_.push_back(std::move(*metric));
      outcome_.metrics.push_back({.entry = selected.entry, .threshold = selected.threshold});
    }
    return true;
  }

  bool open() {
    for (std::size_t side = 0; side < 2; ++side) {
      outcome_.inputs[side].path = request_.inputs[side].string();
      Result<SourcePtr> source =
          open_source(request_.inputs[side], {.raw = request_.raw[side],
                                              .decoder_threads = std::max(1, request_.threads / 2),
                                              .own_thread = request_.threads > 1,
                                              .digest_stream = request_.levels.stream,
                                              .digest_frames = request_.levels.frame});
      if (!source) {
        fail({source.failure().kind, fmt::format("{}: {}", kSides[side], source.failure().message)});
        continue;
      }
      readers_[side].source = std::move(*source);
      outcome_.inputs[side] = readers_[side].source->info();
      outcome_.warnings.insert(outcome_.warnings.end(), outcome_.inputs[side].notes.begin(),
                               outcome_.inputs[side].notes.end());
    }
    if (!outcome_.failures.empty()) return false;
    if (request_.levels.file) start_file_digests();
    return true;
  }

  void start_file_digests() {
    const auto policy = request_.threads > 1 ? std::launch::async : std::launch::deferred;
    for (std::size_t side = 0; side < 2; ++side)
      file_digests_[side] =
          std::async(policy, [files = outcome_.inputs[side].files] { return file_digest(files); });
  }

  // The next frame; nothing at the end of the input or after a failure, which is recorded.
  std::optional<Frame> next(std::size_t side) {
    Reader& reader = readers_[side];
    Result<std::optional<Frame>> frame = reader.source->next();
    if (!frame) {
      fail({frame.failure().kind, fmt::format("{}: {}", kSides[side], frame.failure().message)});
      return std::nullopt;
    }
    if (!frame->has_value()) {
      outcome_.frames[side] = reader.frames;
      return std::nullopt;
    }
    if (!reader.format) {
      reader.format = (*frame)->format;
      outcome_.formats[side] = *reader.format;
    } else if (reader.format != (*frame)->format && *reader.format != *(*frame)->format) {
      fail({FailureKind::mismatch,
            fmt::format("{}: the format changes at frame {}: from {} to {}", kSides[side], reader.frames,
                        reader.format->describe(), (*frame)->format->describe())});
      return std::nullopt;
    }
    ++reader.frames;
    return std::move(*frame);
  }

  bool skip_offset() {
    const std::size_t side = request_.offset >= 0 ? 1 : 0;
    const auto offset = static_cast<std::uint64_t>(request_.offset);
    const std::uint64_t skip = request_.offset >= 0 ? offset : 0 - offset;
    while (readers_[side].frames < skip) {
      if (next(side)) continue;
      if (outcome_.failures.empty())
        fail({FailureKind::length, fmt::format("--offset {}: {} has only {} frames", request_.offset,
                                               kSides[side], readers_[side].frames)});
      return false;
    }
    return true;
  }

  void compare_pairs() {
    while (true) {
      std::optional<Frame> a = next(0);
      if (!a && !outcome_.failures.empty()) return;
      std::optional<Frame> b = next(1);
      if (!b && !outcome_.failures.empty()) return;
      if (!a || !b) {
        if (a.has_value() != b.has_value()) count_rest(a ? 0 : 1);
        return;
      }
      if (!compare_pair(std::move(*a), std::move(*b))) return;
    }
  }

  // One input is at its end: how many more frames does the other have?
  void count_rest(std::size_t longer) {
    while (next(longer)) {
    }
    if (!outcome_.frames[longer] || request_.allow_prefix) return;
    const std::string shifted = request_.offset == 0 ? "" : fmt::format(" at --offset {}", request_.offset);
    fail({FailureKind::length,
          fmt::format(
              "different lengths{}: A has {} frames, B has {}; the first {} pairs were compared (--offset "
              "N aligns them, --allow-prefix accepts the rest)",
              shifted, *outcome_.frames[0], *outcome_.frames[1], outcome_.compared)});
  }

  bool compare_pair(Frame a, Frame b) {
    if (!shared_[0] && !start()) return false;
    const std::uint64_t index_a = readers_[0].frames - 1, index_b = readers_[1].frames - 1;
    times_.add(a, b, index_a);
    if (a.not_finite + b.not_finite > 0) {
      if (!first_not_finite_) first_not_finite_ = index_a;
      not_finite_[0] += a.not_finite;
      not_finite_[1] += b.not_finite;
      return true;
    }
    const Frame left = align(a, shared_[0]), right = align(b, shared_[1]);
    std::vector<PlaneSums> sums;
    for (std::size_t plane = 0; plane < shared_[0]->planes.size(); ++plane)
      sums.push_back(plane_sums(left, right, plane));
    const FramePair pair{index_a, left, right, sums};
    PairResult result;
    result.index_a = index_a;
    result.index_b = index_b;
    result.identical = pair.identical();
    result.digest_a = a.digest;
    result.digest_b = b.digest;
    add_errors(sums, result);
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      Result<Summary> summary = metrics_[i]->extract(pair);
      if (!summary) return fail(summary.failure());
      result.metrics.push_back(std::move(*summary));
    }
    if (!result.identical && !outcome_.first_difference)
      outcome_.first_difference = first_difference(left, right, index_a, index_b);
    count(result);
    for (Observer* observer : observers_) observer->on_pair(outcome_, result, pair);
    keep_if_worse(std::move(result));
    return true;
  }

  // The first pair: may the formats be compared, and what do the metrics say about them?
  bool start() {
    const FrameFormat &a = *readers_[0].format, &b = *readers_[1].format;
    Compatibility compatibility = check_formats(a, b);
    outcome_.mismatches = compatibility.mismatches;
    const bool refused = request_.on_mismatch == OnMismatch::error && !compatibility.mismatches.empty();
    if (refused || !compatibility.common) {
      for (const std::string& mismatch : compatibility.mismatches)
        fail({FailureKind::mismatch,
              mismatch + (compatibility.common ? " (--on-mismatch warn compares what both have)" : "")});
      return false;
    }
    for (const auto* list : {&compatibility.mismatches, &compatibility.consequences})
      outcome_.warnings.insert(outcome_.warnings.end(), list->begin(), list->end());
    shared_[0] = std::make_shared<const FrameFormat>(with_tags(*compatibility.common, a, b));
    shared_[1] = std::make_shared<const FrameFormat>(with_tags(*compatibility.common, b, a));
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      outcome_.metrics[i].definition = metrics_[i]->init(*shared_[0], *shared_[1]);
      for (const std::string& warning : outcome_.metrics[i].definition.warnings)
        outcome_.warnings.push_back(fmt::format("{}: {}", outcome_.metrics[i].entry->title, warning));
    }
    for (Observer* observer : observers_) observer->on_start(outcome_);
    return true;
  }

  static void add_errors(std::span<const PlaneSums> sums, PairResult& result) {
    result.squared_error = 0;
    double samples = 0, error = 0;
    for (const PlaneSums& plane : sums) {
      if (!plane.squared_error)
        result.squared_error.reset();
      else if (result.squared_error)
        *result.squared_error += *plane.squared_error;
      samples += static_cast<double>(plane.samples);
      error += plane.mean_squared_error * static_cast<double>(plane.samples);
    }
    result.mean_squared_error = error / samples;
  }

  void count(const PairResult& result) {
    ++outcome_.compared;
    outcome_.identical_frames += result.identical;
    if (result.digest_a && result.digest_b)
      outcome_.equal_frame_digests += *result.digest_a == *result.digest_b;
    std::uint64_t total = 0;
    if (!outcome_.squared_error || !result.squared_error ||
        __builtin_add_overflow(*outcome_.squared_error, *result.squared_error, &total))
      outcome_.squared_error.reset();
    else
      outcome_.squared_error = total;
  }

  void keep_if_worse(PairResult result) {
    if (result.identical) return;
    const auto worse = [](const PairResult& left, const PairResult& right) {
      return left.mean_squared_error > right.mean_squared_error;
    };
    auto& worst = outcome_.worst;
    worst.insert(std::upper_bound(worst.begin(), worst.end(), result, worse), std::move(result));
    if (worst.size() > request_.worst) worst.pop_back();
  }

  void summarise() {
    if (outcome_.compared > 0)
      for (std::size_t i = 0; i < metrics_.size(); ++i) outcome_.metrics[i].summary = metrics_[i]->flush();
    if (first_not_finite_)
      fail({FailureKind::not_finite,
            fmt::format("{} samples of A and {} of B are NaN or infinite, first in frame "
                        "{}; such frames were not measured",
                        not_finite_[0], not_finite_[1], *first_not_finite_)});
    if (outcome_.frames[0] && outcome_.frames[1] && outcome_.compared == 0 && outcome_.failures.empty())
      fail({FailureKind::length, "no pair of frames was compared"});
    summarise_metadata();
    summarise_identity();
    check_thresholds();
  }

  void summarise_metadata() {
    if (!readers_[0].source || !readers_[1].source) return;
    auto& differences = outcome_.metadata_differences;
    differences = metadata_differences(outcome_.inputs[0].properties, outcome_.inputs[1].properties);
    const auto append = [&](const std::vector<MetadataDifference>& more) {
      differences.insert(differences.end(), more.begin(), more.end());
    };
    if (readers_[0].format && readers_[1].format)
      append(tag_differences(*readers_[0].format, *readers_[1].format));
    if (times_.difference()) differences.push_back(*times_.difference());
    if (!outcome_.frames[0] || !outcome_.frames[1]) return;
    append(metadata_differences(readers_[0].source->late_properties(), readers_[1].source->late_properties()));
    for (std::size_t side = 0; side < 2; ++side) {
      const std::optional<std::uint64_t> stated = outcome_.inputs[side].frames_stated;
      if (stated && *stated != *outcome_.frames[side])
        outcome_.warnings.push_back(fmt::format("{}: the container states {} frames, {} were decoded",
                                                kSides[side], *stated, *outcome_.frames[side]));
    }
  }

  static LevelResult level_of(std::optional<Digest> a, std::optional<Digest> b, std::string reason) {
    if (!a || !b) return {.identical = {}, .reason = std::move(reason), .a = a, .b = b};
    return {.identical = *a == *b, .reason = {}, .a = a, .b = b};
  }

  void summarise_identity() {
    constexpr const char* kNotAsked = "not asked for";
    std::array<std::optional<Digest>, 2> files, streams;
    for (std::size_t side = 0; side < 2; ++side) {
      if (file_digests_[side].valid()) {
        Result<Digest> digest = file_digests_[side].get();
        if (digest)
          files[side] = *digest;
        else
          fail({digest.failure().kind, fmt::format("{}: {}", kSides[side], digest.failure().message)});
      }
      if (readers_[side].source && outcome_.frames[side])
        streams[side] = readers_[side].source->stream_digest();
    }
    outcome_.file = level_of(files[0], files[1], request_.levels.file ? "not computed" : kNotAsked);
    outcome_.stream = level_of(streams[0], streams[1],
                               request_.levels.stream ? "needs two videos decoded to the end" : kNotAsked);
    if (!request_.levels.frame)
      outcome_.frame.reason = kNotAsked;
    else if (outcome_.compared == 0)
      outcome_.frame.reason = "no pair of frames was compared";
    else
      outcome_.frame.identical = outcome_.equal_frame_digests == outcome_.compared;
  }

  void check_thresholds() {
    if (outcome_.compared == 0) return;
    for (const MetricResult& metric : outcome_.metrics)
      if (std::optional<Failure> failure = check_threshold(metric)) fail(std::move(*failure));
    if (request_.require_identical && !outcome_.identical())
      fail({FailureKind::threshold, fmt::format("--require-identical: {} of {} compared frames are identical",
                                                outcome_.identical_frames, outcome_.compared)});
  }

  const Request& request_;
  std::span<Observer* const> observers_;
  Outcome outcome_;
  std::vector<std::unique_ptr<Metric>> metrics_;
  std::array<Reader, 2> readers_;
  std::array<std::future<Result<Digest>>, 2> file_digests_;
  std::array<std::shared_ptr<const FrameFormat>, 2> shared_;  // what is compared, as each side is tagged
  TimeStampComparison times_;
  std::array<std::uint64_t, 2> not_finite_{};
  std::optional<std::uint64_t> first_not_finite_;
};

}  // namespace

Outcome compare(const Request& request, std::span<Observer* const> observers) {
  return Comparison(request, observers).run();
}

}  // namespace bitproof::metrics
