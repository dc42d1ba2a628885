// A curve as inline SVG with its scale in HTML, so that it stretches while its text does not.
#pragma once

#include <string>

#include "metrics/metric/metric.h"
#include "metrics/report/curve.h"

namespace bitproof::metrics {

// Empty when no frame has a value.
std::string plot_html(const Curve& curve, const MetricEntry& entry);

}  // namespace bitproof::metrics
