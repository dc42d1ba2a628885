// Everything that the gate and `show` can print. Pure: results in, text out.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "conformance/gate/gate.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// --- For a terminal ------------------------------------------------------------------------------------------

enum class Colour { off, on };
std::string to_terminal(const GateResult& result, Colour colour);
std::string to_terminal(const Report& report, Colour colour);

// --- For a pull request --------------------------------------------------------------------------------------

// GitHub refuses comments of 65,536 characters and more.
inline constexpr std::size_t kMarkdownLimit = 65535;
// Fits a comment, however many records and findings there are: what does not fit is counted.
std::string to_markdown(const GateResult& result);

// Workflow commands; GitHub shows ten annotations of a kind per step, so the tenth error counts those that are
// left.
std::string to_github_annotations(const GateResult& result);

// --- For machines --------------------------------------------------------------------------------------------

// JUnit XML (tests/conformance/gate/junit.xsd): one test case per required record. What was waived or only
// compiled is skipped, never passed; findings without a required record are failures of their own.
std::string to_junit(const GateResult& result);

// "passed", "findings" with "record", "kind", "message", and the rest of the result.
nlohmann::json to_json(const GateResult& result);

// --- For a browser -------------------------------------------------------------------------------------------

// One self-contained page without scripts.
std::string to_html(const Report& report);

}  // namespace bitproof::conformance
