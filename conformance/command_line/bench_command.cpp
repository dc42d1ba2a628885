#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/bench/bench.h"
#include "conformance/command_line/commands.h"
#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/linear_bench.h"
#include "conformance/command_line/mlp_bench.h"
#include "conformance/command_line/terminal.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/elementwise/domains.h"
#include "conformance/linear/domains.h"
#include "conformance/linear/plan.h"
#include "conformance/mlp/configuration.h"
#include "conformance/report/result.h"
#include "conformance/runner/plan.h"

namespace bitproof::conformance {
namespace {

struct BenchOptions {
  std::string op = "*", dtype = "*";
  std::optional<std::string> shape;
  std::optional<std::filesystem::path> write_dispatch;
  int device = 0;
  bool json = false;
};

// "512x12288"
Result<BenchShape> parse_shape(const std::string& text) {
  BenchShape shape;
  const std::size_t cross = text.find('x');
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() && value > 0;
  };
  const std::string_view view = text;
  constexpr std::uint64_t kWidestVector = 16, kMostElements = std::uint64_t{1} << 33;
  if (cross == std::string::npos || !number(view.substr(0, cross), shape.rows) ||
      !number(view.substr(cross + 1), shape.width) || shape.width % kWidestVector != 0 ||
      shape.width > kMostElements / shape.rows)
    return Error{
        ErrorKind::bad_argument, "is no shape that can be timed", "--shape " + text,
        "give ROWSxWIDTH, as in 512x12288, with a width that is a multiple of 16 and at most 2^33 elements"};
  return shape;
}

void print_header() {
  fmt::print("{:<15} {:<5} {:>14}  {:<16} {:>11} {:>9} {:>9} {:>10}  {}\n", "operator", "dtype", "shape",
             "implementation", "median us", "TB/s", "to copy", "to memcpy", "bits");
}

void print_entry(const BenchEntry& entry) {
  fmt::print("{:<15} {:<5} {:>14}  {:<16} {:>11.2f} {:>9.3f} {:>8.3f}x {:>9.3f}x  {}\n", entry.op, entry.dtype,
             fmt::format("{}x{}", entry.shape.rows, entry.shape.width), entry.implementation,
             entry.times.median_us, entry.bytes_per_second * 1e-12, entry.ratio_to_copy, entry.ratio_to_memcpy,
             entry.right_bits ? coloured("right", Ink::green, stdout) : coloured("WRONG", Ink::red, stdout));
}

nlohmann::ordered_json as_json(const BenchEntry& entry) {
  return {{"operator", entry.op},
          {"dtype", entry.dtype},
          {"implementation", entry.implementation},
          {"shape", {entry.shape.rows, entry.shape.width}},
          {"samples", entry.times.samples},
          {"median_us", entry.times.median_us},
          {"fastest_us", entry.times.fastest_us},
          {"slowest_us", entry.times.slowest_us},
          {"bytes_per_second", entry.bytes_per_second},
          {"ratio_to_copy", entry.ratio_to_copy},
          {"ratio_to_memcpy", entry.ratio_to_memcpy},
          {"right_bits", entry.right_bits}};
}

// What is to be timed.
struct Plan {
  std::vector<BenchSubject> elementwise;
  LinearBench linear;
  std::vector<reference::Dtype> mlp_dtypes;  // of the MLP, which has shapes of its own
};

// "512x3072x12288" is a layer, "512x12288" a tensor.
bool is_layer_shape(const std::string& shape) { return std::ranges::count(shape, 'x') == 2; }

Result<Plan> plan_of(const BenchOptions& options) {
  Plan plan;
  std::vector<BenchShape> shapes;
  if (!options.shape) {
    for (const ProductionShape& shape : kProductionShapes) shapes.push_back({shape.rows, shape.width});
    for (const LinearProductionShape& layer : kLinearProductionShapes)
      plan.linear.shapes.push_back(layer.shape);
  } else if (is_layer_shape(*options.shape)) {
    const Result<reference::GemmShape> shape = parse_gemm_shape(*options.shape);
    if (!shape) return shape.error();
    plan.linear.shapes.push_back(*shape);
  } else {
    const Result<BenchShape> shape = parse_shape(*options.shape);
    if (!shape) return shape.error();
    shapes.push_back(*shape);
  }
  for (const reference::Dtype dtype : {reference::Dtype::bf16, reference::Dtype::fp16}) {
    if (!matches_glob(options.dtype, std::string(name(dtype)))) continue;
    plan.linear.dtypes.push_back(dtype);
    for (const ElementwiseOperator& op : kElementwiseOperators)
      if (matches_glob(options.op, std::string(op.name)))
        for (const BenchShape& shape : shapes) plan.elementwise.push_back({op, dtype, shape});
  }
  std::ranges::stable_sort(plan.elementwise, {}, [](const BenchSubject& subject) { return subject.op.name; });
  if (!matches_glob(options.op, std::string(kLinearGeluTanh)) || plan.linear.dtypes.empty())
    plan.linear.shapes.clear();
  plan.linear.dispatch_file = options.write_dispatch;
  if (!options.shape && matches_glob(options.op, std::string(kMlpGelu))) plan.mlp_dtypes = plan.linear.dtypes;

  const std::string chosen = fmt::format("--op {} --dtype {}", options.op, options.dtype);
  if (options.write_dispatch && plan.linear.shapes.empty())
    return Error{ErrorKind::bad_argument, "has nothing to dispatch",
                 fmt::format("{} --write-dispatch {}", chosen, options.write_dispatch->string()),
                 fmt::format("choose --op {}, which has two paths", kLinearGeluTanh)};
  if (plan.elementwise.empty() && plan.linear.shapes.empty() && plan.mlp_dtypes.empty())
    return Error{
        ErrorKind::bad_argument, "match nothing",
        options.shape ? chosen + " --shape " + *options.shape : chosen,
        fmt::format("use bias_gelu_tanh or gelu_tanh (shapes ROWSxWIDTH), {} (ROWSxDEPTHxCOLUMNS), {} (without "
                    "--shape), bf16 or fp16, or globs",
                    kLinearGeluTanh, kMlpGelu)};
  return plan;
}

bool bench_elementwise_all(const std::vector<BenchSubject>& subjects, const CudaDevice& device,
                           nlohmann::ordered_json* entries) {
  if (subjects.empty()) return true;
  if (entries == nullptr) {
    fmt::print("{} ({}), medians of 60 launches, CUDA events, rotating buffers\n\n", device.facts.name,
               device.facts.architecture);
    print_header();
  }
  bool all_right = true;
  for (const BenchSubject& subject : subjects)
    for (const BenchEntry& entry : bench_elementwise(subject, device.id)) {
      all_right &= entry.right_bits;
      entries != nullptr ? entries->push_back(as_json(entry)) : print_entry(entry);
    }
  return all_right;
}

int bench(const BenchOptions& options) {
  const Result<Plan> plan = plan_of(options);
  if (!plan) return complain(plan.error());
  const CudaDevices devices = find_cuda_devices();
  const auto device = std::ranges::find(devices.devices, options.device, &CudaDevice::id);
  if (device == devices.devices.end()) {
    fmt::print(stderr, "bitproof: --device cuda:{}: not_run: {}\n", options.device,
               devices.devices.empty() ? devices.none_because : "no such device; see `./bitproof list`");
    return kCouldNotRun;
  }

  nlohmann::ordered_json json{{"device", device->facts.name},
                              {"architecture", device->facts.architecture},
                              {"driver", device->facts.driver},
                              {"cuda_runtime", device->facts.cuda_runtime},
                              {"entries", nlohmann::ordered_json::array()}};
  nlohmann::ordered_json* const entries = options.json ? &json["entries"] : nullptr;
  int status = bench_elementwise_all(plan->elementwise, *device, entries) ? kPassed : kFailed;
  if (!plan->linear.shapes.empty()) {
    const int linear = bench_linear_layers(plan->linear, *device, entries);
    if (status == kPassed) status = linear;
  }
  if (!plan->mlp_dtypes.empty()) {
    const int mlp = bench_mlp_shapes(plan->mlp_dtypes, *device, entries);
    if (status == kPassed) status = mlp;
  }
  if (options.json) fmt::print("{}\n", json.dump(2));
  return status;
}

}  // namespace

void add_bench_command(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time the implementations beside a plain copy on a GPU");
  command->add_option("--op", options->op, "Operator, name or glob")->capture_default_str();
  command->add_option("--dtype", options->dtype, "bf16 or fp16, or a glob")->capture_default_str();
  command->add_option("--shape", options->shape,
                      "ROWSxWIDTH, of a layer ROWSxDEPTHxCOLUMNS (default: the production shapes)");
  command->add_option("--write-dispatch", options->write_dispatch,
                      "Write the dispatch table of linear_gelu_tanh for this architecture");
  command->add_option("--device", options->device, "Number of the CUDA device")->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of a table");
  command->callback([options, &status] { status = bench(*options); });
}

}  // namespace bitproof::conformance
