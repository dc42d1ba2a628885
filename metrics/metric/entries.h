// One function per metric, each in a file of its own.
#pragma once

#include "metrics/metric/metric.h"

namespace bitproof::metrics {

MetricEntry psnr_metric();           // psnr.cpp
MetricEntry ssim_metric();           // ssim.cpp
MetricEntry gaussian_ssim_metric();  // windowed_ssim.cpp
MetricEntry uniform_ssim_metric();   // windowed_ssim.cpp
MetricEntry ms_ssim_metric();        // ms_ssim.cpp
MetricEntry lpips_metric();          // lpips.cpp

}  // namespace bitproof::metrics
