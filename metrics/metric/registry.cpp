#include <algorithm>

#include "metrics/metric/entries.h"
#include "metrics/metric/metric.h"

namespace bitproof::metrics {

const Score* Summary::find(std::string_view key) const {
  const auto found =
      std::find_if(scores.begin(), scores.end(), [&](const Score& score) { return score.key == key; });
  return found == scores.end() ? nullptr : &*found;
}

bool FramePair::identical() const {
  return std::all_of(sums.begin(), sums.end(), [](const PlaneSums& plane) { return plane.identical; });
}

const std::vector<MetricEntry>& metric_registry() {
  static const std::vector<MetricEntry> entries = {
      psnr_metric(),         ssim_metric(),    gaussian_ssim_metric(),
      uniform_ssim_metric(), ms_ssim_metric(), lpips_metric(),
  };
  return entries;
}

const MetricEntry* find_metric(std::string_view name) {
  const auto& entries = metric_registry();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace bitproof::metrics
