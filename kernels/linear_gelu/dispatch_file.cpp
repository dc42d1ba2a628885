#include "kernels/linear_gelu/dispatch_file.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "bitproof linear_gelu_tanh dispatch 1";

std::string_view name(HalfType type) { return type == HalfType::bf16 ? "bf16" : "fp16"; }

HalfType parse_half_type(const std::string& text) {
  if (text == name(HalfType::bf16)) return HalfType::bf16;
  if (text == name(HalfType::fp16)) return HalfType::fp16;
  throw std::invalid_argument("dtype \"" + text + "\" is neither bf16 nor fp16");
}

ordered_json json_of(const LinearGeluTimes& times) {
  return {{"dtype", name(times.dtype)},  {"rows", times.rows},         {"columns", times.columns},
          {"depth", times.depth},        {"eager_us", times.eager_us}, {"cublaslt_us", times.cublaslt_us},
          {"path", name(times.faster())}};
}

LinearGeluTimes times_of(const ordered_json& json) {
  const LinearGeluTimes times{.dtype = parse_half_type(json.at("dtype").get<std::string>()),
                              .rows = json.at("rows").get<std::int64_t>(),
                              .columns = json.at("columns").get<std::int64_t>(),
                              .depth = json.at("depth").get<std::int64_t>(),
                              .eager_us = json.at("eager_us").get<double>(),
                              .cublaslt_us = json.at("cublaslt_us").get<double>()};
  if (times.rows <= 0 || times.columns <= 0 || times.depth <= 0)
    throw std::invalid_argument("a shape is not positive");
  if (!(times.eager_us > 0) || !(times.cublaslt_us > 0)) throw std::invalid_argument("a time is not positive");
  if (json.at("path").get<std::string>() != name(times.faster()))
    throw std::invalid_argument("\"path\" is not the path of the smaller time");
  return times;
}

}  // namespace

ArchitectureRule DispatchMeasurement::rule() const {
  return {.epilogue = summarise(times),
          .source = "measured: " + device + ", driver " + driver + ", cuBLASLt " + cublaslt_version,
          .times = times};
}

std::string to_json(const DispatchMeasurement& measurement) {
  ordered_json json{{"format", kFormat},
                    {"compute_capability", measurement.compute_capability},
                    {"device", measurement.device},
                    {"driver", measurement.driver},
                    {"cublaslt_version", measurement.cublaslt_version},
                    {"measurements", ordered_json::array()}};
  for (const LinearGeluTimes& times : measurement.times) json["measurements"].push_back(json_of(times));
  return json.dump(2) + "\n";
}

std::variant<DispatchMeasurement, DispatchFileError> dispatch_from_json(const std::string& text) {
  try {
    const ordered_json json = ordered_json::parse(text);
    if (json.at("format").get<std::string>() != kFormat)
      return DispatchFileError{"\"format\" is not \"" + std::string(kFormat) + "\""};
    DispatchMeasurement result{.compute_capability = json.at("compute_capability").get<int>(),
                               .device = json.at("device").get<std::string>(),
                               .driver = json.at("driver").get<std::string>(),
                               .cublaslt_version = json.at("cublaslt_version").get<std::string>(),
                               .times = {}};
    for (const ordered_json& entry : json.at("measurements")) result.times.push_back(times_of(entry));
    return result;
  } catch (const nlohmann::json::exception& error) {
    return DispatchFileError{error.what()};
  } catch (const std::invalid_argument& error) {
    return DispatchFileError{error.what()};
  }
}

std::variant<std::monostate, DispatchFileError> write_dispatch_file(const std::filesystem::path& path,
                                                                    const DispatchMeasurement& measurement) {
  std::filesystem::path temporary = path;
  temporary += ".new";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << to_json(measurement);
  file.close();
  if (!file) return DispatchFileError{temporary.string() + ": cannot be written"};
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) return DispatchFileError{path.string() + ": cannot be replaced: " + error.message()};
  return std::monostate{};
}

std::variant<DispatchMeasurement, DispatchFileError> read_dispatch_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return DispatchFileError{path.string() + ": cannot be read"};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto result = dispatch_from_json(text);
  if (auto* error = std::get_if<DispatchFileError>(&result))
    error->message =
        path.string() + ": " + error->message + "; write it again with bitproof bench --write-dispatch";
  return result;
}

std::variant<DispatchTable, DispatchFileError> load_dispatch_table(const std::filesystem::path& path) {
  const auto read = read_dispatch_file(path);
  if (const auto* error = std::get_if<DispatchFileError>(&read)) return *error;
  const auto& measurement = std::get<DispatchMeasurement>(read);
  DispatchTable table;
  table.set_measured(measurement.compute_capability, measurement.rule());
  return table;
}

}  // namespace bitproof::kernels
