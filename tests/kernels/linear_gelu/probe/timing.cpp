#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "kernels/linear_gelu/cublaslt.h"
#include "kernels/linear_gelu/dispatch_file.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"
#include "tests/kernels/linear_gelu/probe/layer.h"
#include "tests/kernels/linear_gelu/probe/operands.h"
#include "tests/kernels/linear_gelu/probe/production_shapes.h"

namespace bitproof::probe {
namespace {

using kernels::LinearGeluPath;
using kernels::LinearGeluTimes;
using kernels::cuda::check;
using kernels::cuda::LinearGeluTanh;
using reference::Bf16;
using reference::Fp16;
using reference::Half;

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { check(cudaEventRecord(event_, nullptr), "cudaEventRecord"); }
  double microseconds_since(const Event& start) const {
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return 1000.0 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The paths take turns, so that drift of the clocks meets both.
template <Half T>
LinearGeluTimes measure(const reference::GemmShape& shape) {
  constexpr int kWarmUps = 5, kRepetitions = 51;
  const DeviceLayer<T> device(make_layer<T>(shape, Data::normal, 11));
  const LinearGeluTanh eager = device.prepare(LinearGeluPath::eager);
  const LinearGeluTanh fused = device.prepare(LinearGeluPath::cublaslt);
  // All are queued before any is waited for, so that the host's part hides behind the device's.
  struct Interval {
    Event start, end;
  };
  std::array<std::vector<Interval>, 2> intervals{std::vector<Interval>(kWarmUps + kRepetitions),
                                                 std::vector<Interval>(kWarmUps + kRepetitions)};
  for (std::size_t i = 0; i < intervals[0].size(); ++i) {
    for (const auto& [path, which] : {std::pair{&eager, 0u}, std::pair{&fused, 1u}}) {
      intervals[which][i].start.record();
      device.launch(*path);
      intervals[which][i].end.record();
    }
  }
  const auto median_of = [](const std::vector<Interval>& all) {
    std::vector<double> times;
    for (std::size_t i = kWarmUps; i < all.size(); ++i)
      times.push_back(all[i].end.microseconds_since(all[i].start));
    return median(times);
  };
  return {.dtype = T::kDtype == reference::Dtype::bf16 ? kernels::HalfType::bf16 : kernels::HalfType::fp16,
          .rows = static_cast<std::int64_t>(shape.rows),
          .columns = static_cast<std::int64_t>(shape.columns),
          .depth = static_cast<std::int64_t>(shape.depth),
          .eager_us = median_of(intervals[0]),
          .cublaslt_us = median_of(intervals[1])};
}

void print(const LinearGeluTimes& times) {
  fmt::print("  {} ({}, {} -> {}): eager {:.1f} us, epilogue {:.1f} us, ratio {:.3f}\n",
             times.dtype == kernels::HalfType::bf16 ? "bf16" : "fp16", times.rows, times.depth, times.columns,
             times.eager_us, times.cublaslt_us, times.eager_us / times.cublaslt_us);
}

kernels::DispatchMeasurement identity_of_device() {
  int device = 0, driver = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return {.compute_capability = 10 * properties.major + properties.minor,
          .device = properties.name,
          .driver = fmt::format("for CUDA {}.{}", driver / 1000, driver % 1000 / 10),
          .cublaslt_version = kernels::cuda::cublaslt().library->version_text,
          .times = {}};
}

bool read_back(const std::filesystem::path& path, const kernels::DispatchMeasurement& measurement) {
  const auto written = kernels::write_dispatch_file(path, measurement);
  if (const auto* error = std::get_if<kernels::DispatchFileError>(&written)) {
    fmt::print("  {}\n", error->message);
    return false;
  }
  const auto read = kernels::read_dispatch_file(path);
  const auto* again = std::get_if<kernels::DispatchMeasurement>(&read);
  const bool equal = again != nullptr && *again == measurement;
  fmt::print("  dispatch table written to {} and {}\n", path.string(),
             equal ? "read back equal" : "NOT read back equal");
  return equal;
}

}  // namespace

bool run_timing(const std::optional<std::filesystem::path>& dispatch_file) {
  fmt::print("medians of 51 alternating runs\n");
  kernels::DispatchMeasurement measurement = identity_of_device();
  for (const reference::GemmShape& shape : kProductionShapes) {
    for (const LinearGeluTimes& times : {measure<Bf16>(shape), measure<Fp16>(shape)}) {
      print(times);
      measurement.times.push_back(times);
    }
  }
  return !dispatch_file || read_back(*dispatch_file, measurement);
}

}  // namespace bitproof::probe
