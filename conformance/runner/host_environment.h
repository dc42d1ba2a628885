// What a report says about the machine and the tool.
#pragma once

#include "conformance/report/report.h"
#include "conformance/device/cuda_devices.h"

namespace bitproof::conformance {

Environment describe_environment(const std::vector<CudaDevice>& devices);

// "20260301T120000Z-4711": the default name of a report's directory.
std::string fresh_report_name();

}  // namespace bitproof::conformance
