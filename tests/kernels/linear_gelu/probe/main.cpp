// linear_gelu_gpu_probe: what linear + GELU does on this card, against what the reference predicts.
//
// Exit status: 0 everything was predicted; 1 something was not; 2 bad usage; 3 no GPU or no cuBLASLt.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "kernels/cuda/device.h"
#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/cublaslt.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"

namespace {

using namespace bitproof;

struct Options {
  std::string oracles = BITPROOF_FIXTURES "/oracles";
  int shapes_per_dtype = 200;
  double seconds_per_shape = 15;
  std::optional<std::string> dispatch_file;
  std::vector<std::string> only;
};

struct Experiment {
  std::string name;
  std::function<bool(const Options&)> run;
};

const std::vector<Experiment> kExperiments{
    {"accumulators", [](const Options&) { return probe::run_accumulators(); }},
    {"one-hot", [](const Options& options) { return probe::run_one_hot(options.oracles); }},
    {"field-cases", [](const Options&) { return probe::run_field_cases(); }},
    {"random-shapes",
     [](const Options& options) { return probe::run_random_shapes(options.shapes_per_dtype); }},
    {"timing", [](const Options& options) { return probe::run_timing(options.dispatch_file); }},
    {"production-shapes",
     [](const Options& options) { return probe::run_production_shapes(options.seconds_per_shape); }},
};

bool run_timed(const Experiment& experiment, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  bool predicted = false;
  try {
    predicted = experiment.run(options);
  } catch (const std::exception& error) {
    fmt::print("  ended early: {}\n", error.what());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: {} ({:.1f} s)\n\n", predicted ? "PREDICTED" : "NOT PREDICTED", experiment.name, seconds);
  std::fflush(stdout);
  return predicted;
}

int run(const Options& options) {
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    fmt::print(stderr, "not_run: no CUDA device ({})\n", cudaGetErrorString(error));
    return 3;
  }
  if (!kernels::cuda::cublaslt().library) {
    fmt::print(stderr, "not_run: {}\n", kernels::cuda::cublaslt().reason);
    return 3;
  }
  cudaDeviceProp properties{};
  kernels::cuda::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  fmt::print("{}, compute capability {}.{}, cuBLASLt {} from {}\n\n", properties.name, properties.major,
             properties.minor, kernels::cuda::cublaslt().library->version_text,
             kernels::cuda::cublaslt().library->path);

  bool predicted = true;
  for (const Experiment& experiment : kExperiments) {
    if (options.only.empty() || std::ranges::find(options.only, experiment.name) != options.only.end())
      predicted = run_timed(experiment, options) && predicted;
  }
  return predicted ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What linear + GELU does on this card, against what the reference predicts");
  app.add_option("--oracles", options.oracles, "folder of the recorded tables")->check(CLI::ExistingDirectory);
  app.add_option("--seconds-per-shape", options.seconds_per_shape,
                 "prediction of a production shape stops after this many seconds, but not before 4,096 rows")
      ->capture_default_str();
  app.add_option("--write-dispatch", options.dispatch_file, "write the measured dispatch table here");
  app.add_option("--shapes", options.shapes_per_dtype, "random shapes per dtype")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  std::vector<std::string> names;
  for (const Experiment& experiment : kExperiments) names.push_back(experiment.name);
  app.add_option("--only", options.only, "run just these experiments")->check(CLI::IsMember(names));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const kernels::Refused& refused) {
    fmt::print(stderr, "not_run: {}\n", refused.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
}
