#include "metrics/report/plot.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

constexpr double kWidth = 1000, kHeight = 140, kMargin = 10;

struct Scale {
  double low, high;

  double y(double value) const {
    return high == low ? kHeight / 2 : kMargin + (high - value) / (high - low) * (kHeight - 2 * kMargin);
  }
};

Scale scale_of(const std::vector<CurveBucket>& buckets) {
  Scale scale{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const CurveBucket& bucket : buckets) {
    if (!bucket.least) continue;
    scale.low = std::min(scale.low, *bucket.least);
    scale.high = std::max(scale.high, *bucket.greatest);
  }
  return scale;
}

struct Labels {
  std::string low, high;
};

// As short as tells the ends apart: close to 1, similarities need many digits.
Labels labels_of(const Scale& scale) {
  Labels labels;
  for (int digits = 6; digits <= 17; digits += 3) {
    labels = {fmt::format("{:.{}g}", scale.low, digits), fmt::format("{:.{}g}", scale.high, digits)};
    if (labels.low != labels.high) return labels;
  }
  return {"", fmt::format("{:.6g}", scale.high)};
}

}  // namespace

std::string plot_html(const Curve& curve, const MetricEntry& entry) {
  const std::vector<CurveBucket>& buckets = curve.buckets();
  const auto is_drawn = [](const CurveBucket& bucket) { return bucket.least || bucket.best; };
  if (std::none_of(buckets.begin(), buckets.end(), is_drawn)) return "";
  const Scale scale = scale_of(buckets);
  const Labels labels = scale.low <= scale.high ? labels_of(scale) : Labels{};
  const double step = kWidth / static_cast<double>(buckets.size());

  // Drawn as a stair: a value holds for the width of its frame, and a single frame that stands out keeps its
  // width.
  std::string path, marks;
  bool pen_down = false;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double left = step * static_cast<double>(i), right = left + step;
    const CurveBucket& bucket = buckets[i];
    if (bucket.best)
      marks += fmt::format("<rect x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"4\"/>", left, step);
    if (!bucket.least) {
      pen_down = false;
      continue;
    }
    const double top = scale.y(*bucket.greatest), bottom = scale.y(*bucket.least);
    path += fmt::format("{}{:.2f} {:.2f}V{:.2f}H{:.2f}", pen_down ? "L" : "M", left, top, bottom, right);
    pen_down = true;
  }
  const char* legend = marks.empty() ? "" : "<p class=\"dim\">Green along the top: identical frames.</p>\n";
  return fmt::format(
      "{}<div class=\"plot\"><div class=\"scale\"><span>{}</span><span>{}</span></div>"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} of each frame\">"
      "<g fill=\"var(--good)\">{}</g><path d=\"{}\" fill=\"none\" stroke=\"var(--accent)\" "
      "stroke-width=\"2\" stroke-linecap=\"round\" "
      "vector-effect=\"non-scaling-stroke\"/></svg>"
      "<div class=\"frames\"><span>frame {}</span><span>{}</span></div></div>",
      legend, labels.high, labels.low, kWidth, kHeight, entry.title, marks, path, buckets.front().first,
      buckets.back().last);
}

}  // namespace bitproof::metrics
