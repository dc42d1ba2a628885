#include "conformance/command_line/linear_bench.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/terminal.h"
#include "conformance/linear/device.h"
#include "conformance/linear/plan.h"
#include "kernels/linear_gelu/dispatch_file.h"

namespace bitproof::conformance {
namespace {

using kernels::DispatchMeasurement;
using kernels::LinearGeluTimes;
using reference::Dtype;
using reference::GemmShape;

std::string text_of(const GemmShape& shape) {
  return fmt::format("{} x {} -> {}", shape.rows, shape.depth, shape.columns);
}

// Both paths at one shape.
struct Measured {
  GemmShape shape;
  Dtype dtype;
  std::vector<LinearBenchEntry> entries;

  double median_of(kernels::LinearGeluPath path) const {
    return std::ranges::find(entries, kernels::name(path), &LinearBenchEntry::implementation)->times.median_us;
  }
  LinearGeluTimes times() const {
    return {.dtype = dtype == Dtype::bf16 ? kernels::HalfType::bf16 : kernels::HalfType::fp16,
            .rows = static_cast<std::int64_t>(shape.rows),
            .columns = static_cast<std::int64_t>(shape.columns),
            .depth = static_cast<std::int64_t>(shape.depth),
            .eager_us = median_of(kernels::LinearGeluPath::eager),
            .cublaslt_us = median_of(kernels::LinearGeluPath::cublaslt)};
  }
};

void print_header(const CudaDevice& device, const std::string& library) {
  fmt::print("\n{} ({}), cuBLASLt {}, medians of 51 alternating launches, CUDA events\n\n", device.facts.name,
             device.facts.architecture, library);
  fmt::print("{:<17} {:<5} {:>23}  {:<14} {:>10} {:>10} {:>9} {:>9}  {}\n", "operator", "dtype", "shape",
             "implementation", "median us", "Tflop/s", "to eager", "to copy", "bits");
}

void print_measured(const Measured& measured) {
  const double eager = measured.median_of(kernels::LinearGeluPath::eager);
  for (const LinearBenchEntry& entry : measured.entries)
    fmt::print("{:<17} {:<5} {:>23}  {:<14} {:>10.2f} {:>10.1f} {:>8.3f}x {:>8.3f}x  {}\n", kLinearGeluTanh,
               name(measured.dtype), text_of(measured.shape), entry.implementation, entry.times.median_us,
               entry.flops_per_second * 1e-12, entry.times.median_us / eager, entry.ratio_to_copy,
               entry.right_bits ? coloured("right", Ink::green, stdout) : coloured("WRONG", Ink::red, stdout));
}

nlohmann::ordered_json as_json(const Measured& measured, const LinearBenchEntry& entry,
                               const std::string& library) {
  return {{"operator", kLinearGeluTanh},
          {"dtype", name(measured.dtype)},
          {"implementation", entry.implementation},
          {"shape", {measured.shape.rows, measured.shape.columns}},
          {"depth", measured.shape.depth},
          {"samples", entry.times.samples},
          {"median_us", entry.times.median_us},
          {"fastest_us", entry.times.fastest_us},
          {"slowest_us", entry.times.slowest_us},
          {"flops_per_second", entry.flops_per_second},
          {"bytes_per_second", entry.bytes_per_second},
          {"ratio_to_eager", entry.times.median_us / measured.median_of(kernels::LinearGeluPath::eager)},
          {"ratio_to_copy", entry.ratio_to_copy},
          {"rows_compared", entry.rows_compared},
          {"right_bits", entry.right_bits},
          {"cublaslt", library},
          {"algorithm", entry.algorithm}};
}

// 90 of "sm_90", 103 of "sm_103".
int compute_capability(const std::string& architecture) {
  int capability = 0;
  const std::string_view digits = std::string_view(architecture).substr(std::string_view("sm_").size());
  std::from_chars(digits.data(), digits.data() + digits.size(), capability);
  return capability;
}

// Writes the table and reads it back as a dispatcher would.
int write_dispatch(const std::filesystem::path& file, const DispatchMeasurement& measurement) {
  const auto written = kernels::write_dispatch_file(file, measurement);
  if (const auto* error = std::get_if<kernels::DispatchFileError>(&written)) return complain(error->message);
  const auto loaded = kernels::load_dispatch_table(file);
  if (const auto* error = std::get_if<kernels::DispatchFileError>(&loaded)) return complain(error->message);
  const auto& table = std::get<kernels::DispatchTable>(loaded);
  fmt::print(stderr, "dispatch table of sm_{}: {}, read back:\n", measurement.compute_capability,
             file.string());
  for (const LinearGeluTimes& times : measurement.times)
    fmt::print(stderr, "  {} {} x {} -> {}: lossless cuda.eager, high {}\n",
               times.dtype == kernels::HalfType::bf16 ? "bf16" : "fp16", times.rows, times.depth, times.columns,
               kernels::name(table.path_for(measurement.compute_capability, times.dtype, times.rows,
                                            times.columns, times.depth)));
  return kPassed;
}

}  // namespace

Result<GemmShape> parse_gemm_shape(const std::string& text) {
  constexpr std::size_t kMost = std::size_t{1} << 33;
  std::array<std::size_t, 3> extents{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool right = true;
  for (std::size_t i = 0; i < extents.size() && right; ++i) {
    const auto [next, error] = std::from_chars(at, end, extents[i]);
    right = error == std::errc{} && extents[i] > 0 && extents[i] < kMost &&
            (i + 1 == extents.size() ? next == end : next != end && *next == 'x');
    at = next + (next != end ? 1 : 0);
  }
  const GemmShape shape{.rows = extents[0], .columns = extents[2], .depth = extents[1]};
  right = right && shape.columns <= kMost / shape.rows && shape.depth <= kMost / shape.rows &&
          shape.depth <= kMost / shape.columns;
  std::string why = "is no layer";
  if (right) {
    const auto refusal = reference::refuse_prediction(shape, 1);
    if (!refusal) return shape;
    why = refusal->reason;
  }
  return Error{
      ErrorKind::bad_argument, why, "--shape " + text,
      "give ROWSxDEPTHxCOLUMNS, as in 512x3072x12288, depth and columns multiples of 8, no matrix above "
      "2^33 elements"};
}

int bench_linear_layers(const LinearBench& bench, const CudaDevice& device, nlohmann::ordered_json* entries) {
  const LinearLibrary library = linear_library();
  if (!library.reason.empty()) {
    fmt::print(stderr, "bitproof: {}: not_run: {}\n", kLinearGeluTanh, library.reason);
    return kCouldNotRun;
  }
  if (entries == nullptr) print_header(device, library.version);
  DispatchMeasurement measurement{.compute_capability = compute_capability(device.facts.architecture),
                                  .device = device.facts.name,
                                  .driver = device.facts.driver,
                                  .cublaslt_version = library.version,
                                  .times = {}};
  bool all_right = true;
  for (const GemmShape& shape : bench.shapes)
    for (const Dtype dtype : bench.dtypes) {
      const Measured measured{shape, dtype, bench_linear(shape, dtype, device.id)};
      for (const LinearBenchEntry& entry : measured.entries) {
        all_right &= entry.right_bits;
        if (entries != nullptr) entries->push_back(as_json(measured, entry, library.version));
      }
      if (entries == nullptr) print_measured(measured);
      measurement.times.push_back(measured.times());
    }
  if (bench.dispatch_file && !all_right)
    fmt::print(stderr, "bitproof: {} is not written: a time counts only for code with the right bits\n",
               bench.dispatch_file->string());
  if (!all_right) return kFailed;
  return bench.dispatch_file ? write_dispatch(*bench.dispatch_file, measurement) : kPassed;
}

}  // namespace bitproof::conformance
