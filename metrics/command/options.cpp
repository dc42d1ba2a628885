#include "metrics/command/options.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitproof::metrics {
namespace {

constexpr const char* kDescription =
    "Are two videos the same, and if not, how far apart?\n\n"
    "A and B are videos, image files, or folders of numbered images. Frames are paired by their number; time "
    "stamps and "
    "other metadata are reported and never shift a frame.\n\n"
    "Exit status: 0 compared, within all thresholds; 1 different lengths, a damaged input, formats that "
    "differ, or a "
    "threshold not met; 2 an input that cannot be read, or bad usage.";

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : metric_registry()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> default_metrics() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : metric_registry())
    if (entry.by_default) names.push_back(entry.name);
  return names;
}

// What CLI11 fills in, in the form in which it is written.
struct Raw {
  std::string a, b;
  std::vector<std::string> metrics = default_metrics();
  std::map<std::string, double> thresholds;           // by metric
  std::map<std::string, std::string> metric_options;  // by flag
  std::vector<std::string> identity = {"file", "stream", "frame"};
  std::string on_mismatch = "error";
  std::string raw, raw_a, raw_b, csv, html;
};

void add_metric_options(CLI::App& app, Raw& raw) {
  for (const MetricEntry& entry : metric_registry()) {
    if (!entry.threshold_flag.empty())
      app.add_option_function<double>(
             entry.threshold_flag,
             [&raw, key = entry.name, flag = entry.threshold_flag](const double& value) {
               if (std::isnan(value)) throw CLI::ValidationError(flag, "NaN is no threshold");
               raw.thresholds[key] = value;
             },
             fmt::format("fail when {} ({}) is {} this{}", entry.title, entry.headline,
                         entry.better == Better::higher ? "below" : "above",
                         entry.unit.empty() ? "" : ", in " + entry.unit))
          ->type_name("X");
    for (const MetricOption& option : entry.options) {
      std::string& value = raw.metric_options[option.flag] = option.fallback;
      CLI::Option* added = app.add_option(option.flag, value, option.help)->capture_default_str();
      if (!option.choices.empty()) added->check(CLI::IsMember(option.choices));
    }
  }
}

void add_options(CLI::App& app, Raw& raw, Command& command) {
  Request& request = command.request;
  app.add_option("A", raw.a, "first input")->required();
  app.add_option("B", raw.b, "second input")->required();
  app.add_option("--metrics", raw.metrics,
                 "comma-separated, of " + fmt::format("{}", fmt::join(metric_names(), ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(metric_names()))
      ->capture_default_str();
  app.add_flag("--require-identical", request.require_identical,
               "fail unless every compared frame is identical");
  add_metric_options(app, raw);
  app.add_option("--offset", request.offset, "compare frame i of A with frame i+N of B")->type_name("N");
  app.add_flag("--allow-prefix", request.allow_prefix, "accept that one input has more frames");
  app.add_option("--on-mismatch", raw.on_mismatch, "formats that differ: fail, or compare what both have")
      ->check(CLI::IsMember({"error", "warn"}))
      ->capture_default_str();
  app.add_option("--identity", raw.identity,
                 "levels besides pixels, comma-separated: file, stream, frame; or pixel alone")
      ->delimiter(',')
      ->check(CLI::IsMember({"file", "stream", "frame", "pixel"}))
      ->capture_default_str();
  app.add_option("--raw", raw.raw, "both inputs are headerless video: WIDTHxHEIGHT:PIXEL_FORMAT")
      ->type_name("FORMAT");
  app.add_option("--raw-a", raw.raw_a, "the same for A alone")->type_name("FORMAT");
  app.add_option("--raw-b", raw.raw_b, "the same for B alone")->type_name("FORMAT");
  app.add_option("--threads", request.threads,
                 "1: all on one thread; N: each input decodes with N/2 on its own")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--json", command.json, "write the report as JSON to standard output");
  app.add_option("--csv", raw.csv, "write one line per frame to FILE")->type_name("FILE");
  app.add_option("--html", raw.html, "write the report as a page to FILE")->type_name("FILE");
}

std::optional<std::string> set_raw_formats(const Raw& raw, Request& request) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::string& own = side == 0 ? raw.raw_a : raw.raw_b;
    const std::string& text = own.empty() ? raw.raw : own;
    if (text.empty()) continue;
    Result<RawFormat> format = parse_raw_format(text);
    if (!format) return format.failure().message;
    request.raw[side] = std::move(*format);
  }
  return std::nullopt;
}

// In the registry's order; a threshold asks for its metric.
std::vector<SelectedMetric> select_metrics(const Raw& raw) {
  std::vector<SelectedMetric> selected;
  for (const MetricEntry& entry : metric_registry()) {
    const auto threshold = raw.thresholds.find(entry.name);
    const bool limited = threshold != raw.thresholds.end();
    if (!limited && std::find(raw.metrics.begin(), raw.metrics.end(), entry.name) == raw.metrics.end())
      continue;
    selected.push_back({&entry, limited ? std::optional(threshold->second) : std::nullopt});
  }
  return selected;
}

bool is_same_file(const std::filesystem::path& left, const std::filesystem::path& right) {
  std::error_code ignored;
  return std::filesystem::equivalent(left, right, ignored) ||
         std::filesystem::weakly_canonical(left, ignored) == std::filesystem::weakly_canonical(right, ignored);
}

// Reports are opened before the inputs are read, and must not destroy them.
std::optional<std::string> find_overwritten(const Command& command) {
  for (const auto* report : {&command.csv, &command.html})
    for (const std::filesystem::path& input : command.request.inputs)
      if (*report && is_same_file(**report, input))
        return fmt::format("the report {} would overwrite the input {}", **report, input.string());
  if (command.csv && command.html && is_same_file(*command.csv, *command.html))
    return fmt::format("--csv and --html would both write {}", *command.csv);
  return std::nullopt;
}

EarlyExit usage_error(std::string_view message) {
  return {2, "", fmt::format("bitproof frames: {}\nRun `bitproof frames --help` for the options.\n", message)};
}

}  // namespace

std::variant<Command, EarlyExit> parse_command_line(int argc, const char* const* argv) {
  CLI::App app(kDescription, "bitproof frames");
  Raw raw;
  Command command;
  add_options(app, raw, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return EarlyExit{0, app.help(), ""};
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  Request& request = command.request;
  request.inputs = {raw.a, raw.b};
  request.on_mismatch = raw.on_mismatch == "warn" ? OnMismatch::warn : OnMismatch::error;
  const auto asked = [&](const char* level) {
    return std::find(raw.identity.begin(), raw.identity.end(), level) != raw.identity.end();
  };
  request.levels = {.file = asked("file"), .stream = asked("stream"), .frame = asked("frame")};
  request.metrics = select_metrics(raw);
  request.settings.insert(raw.metric_options.begin(), raw.metric_options.end());
  if (std::optional<std::string> problem = set_raw_formats(raw, request)) return usage_error(*problem);
  if (!raw.csv.empty()) command.csv = raw.csv;
  if (!raw.html.empty()) command.html = raw.html;
  if (std::optional<std::string> problem = find_overwritten(command)) return usage_error(*problem);
  return command;
}

}  // namespace bitproof::metrics
