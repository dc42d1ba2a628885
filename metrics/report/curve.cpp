#include "metrics/report/curve.h"

#include <algorithm>

namespace bitproof::metrics {
namespace {

void merge(CurveBucket& into, const CurveBucket& other) {
  into.last = other.last;
  into.best = into.best || other.best;
  if (!other.least) return;
  into.least = into.least ? std::min(*into.least, *other.least) : *other.least;
  into.greatest = into.greatest ? std::max(*into.greatest, *other.greatest) : *other.greatest;
}

}  // namespace

void Curve::add(std::uint64_t frame, std::optional<double> value, bool best) {
  const CurveBucket point{frame, frame, value, value, best};
  if (in_last_ > 0 && in_last_ < frames_per_bucket_) {
    merge(buckets_.back(), point);
    ++in_last_;
    return;
  }
  if (buckets_.size() == kMostBuckets) {
    for (std::size_t i = 0; i < kMostBuckets / 2; ++i) {
      buckets_[i] = buckets_[2 * i];
      merge(buckets_[i], buckets_[2 * i + 1]);
    }
    buckets_.resize(kMostBuckets / 2);
    frames_per_bucket_ *= 2;
  }
  buckets_.push_back(point);
  in_last_ = 1;
}

}  // namespace bitproof::metrics
