#include "conformance/gate/commands.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "conformance/gate/load.h"
#include "conformance/gate/outputs.h"
#include "conformance/report/combine.h"
#include "conformance/report/durable_file.h"

namespace bitproof::conformance {
namespace {

enum Status { kPassed = 0, kFailed = 1, kBadInput = 2 };

Colour colour_of(std::FILE* file) {
  const char* const no_colour = std::getenv("NO_COLOR");
  const bool off = (no_colour != nullptr && *no_colour != '\0') || ::isatty(::fileno(file)) == 0;
  return off ? Colour::off : Colour::on;
}

void print(std::FILE* file, const std::string& text) { std::fwrite(text.data(), 1, text.size(), file); }

// Whether an output could be written; the reason on `err` if not.
bool stored(const GateServices& services, const std::string& file, const Result<Done>& done) {
  if (!done)
    print(services.err,
          fmt::format("bitproof: {}: {}; name a file that can be written\n", file, done.error().what));
  return static_cast<bool>(done);
}

// Writes an output if it was asked for.
bool write(const GateServices& services, const std::string& file, const std::string& text) {
  return file.empty() || stored(services, file, replace_file(file, text));
}

Finding to_finding(const Error& error) {
  const FindingKind kind =
      error.kind == ErrorKind::unsupported_version ? FindingKind::unsupported_schema : FindingKind::unreadable;
  return {kind, error.where, error.message()};
}

// --- gate --------------------------------------------------------------------------------------------------

struct GateOptions {
  std::vector<std::filesystem::path> reports;
  std::filesystem::path policy, expectations;
  std::string junit, markdown, annotations;
  bool json = false;
};

int run_gate(const GateOptions& options, const GateServices& services) {
  const auto bad_input = [&](const Error& error) {
    print(services.err, "bitproof gate: " + error.message() + "\n");
    if (options.json) {
      GateResult nothing;
      nothing.findings.push_back(to_finding(error));
      print(services.out,
            to_json(nothing).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    }
    return kBadInput;
  };
  const Result<Policy> policy = load_policy(options.policy);
  if (!policy) return bad_input(policy.error());
  const std::filesystem::path& file =
      options.expectations.empty() ? services.expectations : options.expectations;
  Result<std::vector<Expectation>> expectations = std::vector<Expectation>{};
  if (!file.empty()) expectations = load_expectations(file);
  if (!expectations) return bad_input(expectations.error());

  // What cannot be read is a finding too: the outputs should say it, whoever reads only them.
  LoadedReports loaded = load_reports(options.reports);
  bool unreadable = false;
  for (const Error& error : loaded.errors) {
    loaded.merged.findings.push_back(to_finding(error));
    unreadable = unreadable || loaded.merged.findings.back().kind == FindingKind::unreadable;
  }
  const GateResult result =
      decide(std::move(loaded.merged), *policy, *expectations, services.tree, services.now());

  if (options.json) {
    print(services.out, to_json(result).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    print(services.out, to_terminal(result, colour_of(services.out)));
  }
  // Annotations are read from the log; beside JSON they would spoil it.
  if (options.annotations == "github")
    print(options.json ? services.err : services.out, to_github_annotations(result));
  const bool junit = write(services, options.junit, to_junit(result));
  const bool markdown = write(services, options.markdown, to_markdown(result));
  if (unreadable || !junit || !markdown) return kBadInput;
  return result.passed() ? kPassed : kFailed;
}

// --- merge -------------------------------------------------------------------------------------------------

struct MergeOptions {
  std::vector<std::filesystem::path> reports;
  std::filesystem::path output;
  bool json = false;
};

int run_merge(const MergeOptions& options, const GateServices& services) {
  const LoadedReports loaded = load_reports(options.reports);
  for (const Error& error : loaded.errors) print(services.err, "bitproof merge: " + error.message() + "\n");
  if (!loaded.errors.empty()) return kBadInput;
  for (const Finding& finding : loaded.merged.findings)
    print(services.err, fmt::format("bitproof merge: {}: {}\n", name(finding.kind), finding.message));
  if (!loaded.merged.findings.empty()) {
    print(services.err,
          fmt::format("bitproof merge: nothing was written, {} findings\n", loaded.merged.findings.size()));
    return kFailed;
  }

  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(options.output, ignored);
  const std::filesystem::path file = directory ? options.output / kReportFile : options.output;
  if (!stored(services, file.string(), store_report(file, loaded.merged.report))) return kBadInput;
  if (options.json) {
    print(services.out, to_text(loaded.merged.report));
  } else {
    print(services.out, fmt::format("{}: {} records from {} reports\n", file.string(),
                                    loaded.merged.report.records.size(), loaded.files));
  }
  return kPassed;
}

// --- show --------------------------------------------------------------------------------------------------

struct ShowOptions {
  std::filesystem::path report;
  std::string html;
  bool json = false;
};

int run_show(const ShowOptions& options, const GateServices& services) {
  const Result<Report> report = parse_report(options.report);
  if (!report) {
    print(services.err, "bitproof show: " + report.error().message() + "\n");
    return kBadInput;
  }
  if (!options.html.empty()) {
    if (!write(services, options.html, to_html(*report))) return kBadInput;
    if (!options.json) print(services.out, options.html + "\n");
  } else if (!options.json) {
    print(services.out, to_terminal(*report, colour_of(services.out)));
  }
  if (options.json) print(services.out, to_text(*report));
  return kPassed;
}

}  // namespace

CLI::App* add_gate_command(CLI::App& app, const GateServices& services, int& status) {
  CLI::App* const command = app.add_subcommand(
      "gate", "Pass or fail: is there fresh and complete evidence for what the policy requires?");
  const auto options = std::make_shared<GateOptions>();
  command->add_option("REPORT", options->reports, "Reports, their directories, or directories of such")
      ->required();
  command->add_option("--policy", options->policy, "What is required (JSON with comments)")
      ->required()
      ->type_name("FILE");
  command->add_option("--expectations", options->expectations, "Known mismatches (default: the project's)")
      ->type_name("FILE");
  command->add_option("--junit", options->junit, "Write JUnit XML")->type_name("FILE");
  command->add_option("--markdown", options->markdown, "Write a summary that fits a pull request comment")
      ->type_name("FILE");
  command->add_option("--annotations", options->annotations, "Print annotations for a CI system")
      ->check(CLI::IsMember({"github"}));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &services, &status] { status = run_gate(*options, services); });
  return command;
}

CLI::App* add_merge_command(CLI::App& app, const GateServices& services, int& status) {
  CLI::App* const command =
      app.add_subcommand("merge", "Shards and machines into one report, if they are complete and agree");
  const auto options = std::make_shared<MergeOptions>();
  command->add_option("REPORT", options->reports, "Reports, their directories, or directories of such")
      ->required();
  command->add_option("--output", options->output, "Where the merged report goes")
      ->required()
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print the merged report");
  command->callback([options, &services, &status] { status = run_merge(*options, services); });
  return command;
}

CLI::App* add_show_command(CLI::App& app, const GateServices& services, int& status) {
  CLI::App* const command = app.add_subcommand("show", "A report for people");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("REPORT", options->report, "A report or its directory")->required();
  command->add_option("--html", options->html, "Write a self-contained page instead")->type_name("FILE");
  command->add_flag("--json", options->json, "Print the report as JSON");
  command->callback([options, &services, &status] { status = run_show(*options, services); });
  return command;
}

}  // namespace bitproof::conformance
