// Workflow commands of GitHub Actions:
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
#include <fmt/format.h>

#include "conformance/gate/outputs.h"

namespace bitproof::conformance {
namespace {

constexpr std::size_t kShown = 10;

std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string command(std::string_view level, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", level, escaped(title, true), escaped(message, false));
}

std::string commands(std::string_view level, std::string_view what, const std::vector<Finding>& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i + 1 == kShown && findings.size() > kShown)
      return text +
             command(level, what, fmt::format("{} more, listed in the log of this step", findings.size() - i));
    text += command(level, fmt::format("{}: {}", what, name(findings[i].kind)), findings[i].message);
  }
  return text;
}

}  // namespace

std::string to_github_annotations(const GateResult& result) {
  std::string text = commands("error", "bitproof gate", result.findings);
  text += commands("warning", "bitproof gate, waived", result.waived);
  std::string compiled;
  for (const CompiledOnly& entry : result.compiled_only)
    compiled += fmt::format("{}{} ({})", compiled.empty() ? "" : ", ", entry.architecture, entry.reason);
  if (!compiled.empty())
    text += command("notice", "bitproof gate", "compiled only, not counted as a pass: " + compiled);
  return text;
}

}  // namespace bitproof::conformance
