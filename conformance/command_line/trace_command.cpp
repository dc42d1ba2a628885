#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/elementwise/operators.h"
#include "conformance/report/result.h"
#include "reference/environment.h"
#include "reference/profile.h"
#include "reference/trace.h"

namespace bitproof::conformance {
namespace {

using reference::Half;
using reference::TraceStep;

struct TraceOptions {
  std::string op, dtype, x;
  std::optional<std::string> bias;
  std::string profile{reference::kPytorch211Cuda.name};
  bool json = false;
};

Error bad(const std::string& option, const std::string& value, std::string what, std::string remedy) {
  return {ErrorKind::bad_argument, std::move(what), option + " " + value, std::move(remedy)};
}

// "0xb5a7" or "b5a7".
Result<std::uint16_t> parse_half_bits(const std::string& option, const std::string& text) {
  const std::string_view digits =
      std::string_view(text).substr(text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
  std::uint16_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || digits.size() > 4 || error != std::errc{} || end != digits.data() + digits.size())
    return bad(option, text, "is not the bits of a 16-bit number",
               "give one to four hexadecimal digits, as in 0xb5a7");
  return bits;
}

std::string hex(const TraceStep& step) { return fmt::format("0x{:0{}x}", step.bits, step.width_bits / 4); }

std::string note(const TraceStep& step) {
  if (!step.ulps_to_tie) return step.note;
  return fmt::format("{}{}nearest tie {:+.1f} FP32 ULP away", step.note, step.note.empty() ? "" : "; ",
                     *step.ulps_to_tie);
}

// JSON has no NaN or infinity.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
}

void print_json(const TraceOptions& options, const std::vector<TraceStep>& steps) {
  nlohmann::ordered_json json{{"operator", options.op}, {"dtype", options.dtype}, {"profile", options.profile}};
  json["result"] = hex(steps.back());
  for (const TraceStep& step : steps) {
    nlohmann::ordered_json entry{
        {"name", step.name}, {"bits", hex(step)}, {"value", number(step.value)}, {"note", step.note}};
    if (step.ulps_to_tie) entry["fp32_ulps_to_nearest_tie"] = number(*step.ulps_to_tie);
    json["steps"].push_back(std::move(entry));
  }
  fmt::print("{}\n", json.dump(2));
}

void print_table(const TraceOptions& options, const std::vector<TraceStep>& steps) {
  fmt::print("{} {} under profile {}\n\n", options.op, options.dtype, options.profile);
  fmt::print("{:<20} {:<11} {:>17}  {}\n", "step", "bits", "value", "how");
  for (const TraceStep& step : steps)
    fmt::print("{:<20} {:<11} {:>17.9g}  {}\n", step.name, hex(step), step.value, note(step));
}

template <Half T>
void show(const TraceOptions& options, const ElementwiseOperator& op, const reference::Profile& profile,
          std::uint16_t x, std::optional<std::uint16_t> bias) {
  const reference::Trace<T> trace = bias ? reference::trace_bias_gelu_tanh(T{x}, T{*bias}, profile)
                                         : reference::trace_activation(op.activation, T{x}, profile);
  options.json ? print_json(options, trace.steps) : print_table(options, trace.steps);
}

Result<Done> trace(const TraceOptions& options) {
  const auto op = find_elementwise_operator(options.op);
  if (!op)
    return bad("--op", options.op, "is no operator that can be traced",
               "use bias_gelu_tanh, gelu_tanh, gelu_erf or silu");
  const auto dtype = reference::parse_dtype(options.dtype);
  if (!dtype) return bad("--dtype", options.dtype, "is no dtype of this operator", "use bf16 or fp16");
  const auto profile = reference::find_profile(options.profile);
  if (!profile)
    return bad("--profile", options.profile, "is no known profile",
               fmt::format("use {}", reference::kPytorch211Cuda.name));
  if (op->has_bias != options.bias.has_value())
    return bad("--op", options.op, op->has_bias ? "needs a bias" : "has no bias",
               op->has_bias ? "add --bias 0x8000" : "leave --bias out");

  const Result<std::uint16_t> x = parse_half_bits("--x", options.x);
  if (!x) return x.error();
  std::optional<std::uint16_t> bias;
  if (options.bias) {
    const Result<std::uint16_t> parsed = parse_half_bits("--bias", *options.bias);
    if (!parsed) return parsed.error();
    bias = *parsed;
  }
  reference::visit_dtype(*dtype, [&]<Half T>() { show<T>(options, *op, *profile, *x, bias); });
  return Done{};
}

}  // namespace

void add_trace_command(CLI::App& app, int& status) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand("trace", "Every step of one element with its bits");
  command->add_option("--op", options->op, "bias_gelu_tanh, gelu_tanh, gelu_erf or silu")->required();
  command->add_option("--dtype", options->dtype, "bf16 or fp16")->required();
  command->add_option("--x", options->x, "Bits of the input, hexadecimal")->required();
  command->add_option("--bias", options->bias, "Bits of the bias, hexadecimal");
  command->add_option("--profile", options->profile, "Whose eager bits are the truth")->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of a table");
  command->callback([options, &status] {
    if (const auto fault = reference::environment_fault()) {
      fmt::print(stderr, "bitproof: {}\n", *fault);
      status = kCouldNotRun;
      return;
    }
    const Result<Done> done = trace(*options);
    status = done ? kPassed : complain(done.error());
  });
}

}  // namespace bitproof::conformance
