// A curve of one number per frame in bounded memory: beyond kMostBuckets frames, neighbours share a bucket that
// keeps their least and greatest value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bitproof::metrics {

struct CurveBucket {
  std::uint64_t first = 0, last = 0;      // frames
  std::optional<double> least, greatest;  // of the frames that have a value
  bool best = false;                      // one of them is identical
};

class Curve {
 public:
  static constexpr std::size_t kMostBuckets = 1024;

  void add(std::uint64_t frame, std::optional<double> value, bool best);
  const std::vector<CurveBucket>& buckets() const { return buckets_; }

 private:
  std::vector<CurveBucket> buckets_;
  std::uint64_t frames_per_bucket_ = 1, in_last_ = 0;
};

}  // namespace bitproof::metrics
