#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/terminal.h"
#include "conformance/emulator/audit.h"
#include "conformance/emulator/listings.h"
#include "conformance/machine_code/keys.h"
#include "conformance/report/record.h"
#include "conformance/runner/plan.h"
#include "kernels/architecture.h"

namespace bitproof::conformance {
namespace {

using emulator::AuditedKernel;
using emulator::AuditFacts;

struct AuditOptions {
  std::optional<std::string> op, architecture;
  bool json = false;
};

struct Audit {
  std::vector<AuditedKernel> kernels;
  std::vector<std::string> not_run;  // why
};

bool wanted(const std::optional<std::string>& glob, const std::string& text) {
  return !glob || matches_glob(*glob, text);
}

Audit audit_all(const AuditOptions& options) {
  Audit audit;
  for (const kernels::ArchitectureTraits& traits : kernels::kArchitectures) {
    if (!wanted(options.architecture, std::string(traits.name))) continue;
    for (const std::string_view implementation : {"cuda.fused", "cuda.eager", "cuda.baseline"}) {
      if (std::string why = emulator::listing_unavailable(implementation, traits.name); !why.empty()) {
        audit.not_run.push_back(fmt::format("{} {}: {}", traits.name, implementation, why));
        continue;
      }
      for (AuditedKernel& kernel :
           audit_listing(implementation, *emulator::find_listing(implementation, traits.name)))
        if (wanted(options.op, kernel.op)) audit.kernels.push_back(std::move(kernel));
    }
  }
  return audit;
}

std::string counted(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, count);
  return text.empty() ? "-" : text;
}

std::string counted(const std::map<int, int>& counts) {
  std::string text;
  for (const auto& [bytes, count] : counts)
    text += fmt::format("{}{}x{}B", text.empty() ? "" : " ", count, bytes);
  return text.empty() ? "-" : text;
}

std::string dependent_launch(const AuditFacts& facts) {
  if (facts.waits_for_producer && facts.releases_consumer) return "waits, releases";
  return facts.waits_for_producer ? "waits" : facts.releases_consumer ? "releases" : "-";
}

std::string sum_text(const AuditFacts& facts) {
  return facts.between.empty() ? std::string(name(facts.sum))
                               : fmt::format("{}: {}", name(facts.sum), fmt::join(facts.between, " "));
}

constexpr auto kRow = "{:<7} {:<14} {:<15} {:<5} {:<15} {:>7} {:>7} {:>6}  {:<15} {:<9} {}\n";

void print_people(const Audit& audit) {
  fmt::print(kRow, "arch", "machine code", "operator", "dtype", "unit functions", "loads", "stores", "spills",
             "dependent", "contract", "from the add to GELU");
  for (const AuditedKernel& kernel : audit.kernels) {
    const bool kept = kernel.mismatches.empty();
    // Padded before it is coloured.
    const std::string contract =
        coloured(fmt::format("{:<9}", kept ? "as agreed" : "DIFFERS"), kept ? Ink::green : Ink::red, stdout);
    fmt::print(kRow, kernel.architecture, kernel.implementation, kernel.op, kernel.dtype,
               counted(kernel.facts.unit_functions), counted(kernel.facts.loads), counted(kernel.facts.stores),
               kernel.facts.spills, dependent_launch(kernel.facts), contract, sum_text(kernel.facts));
  }
  for (const AuditedKernel& kernel : audit.kernels)
    for (const std::string& mismatch : kernel.mismatches)
      fmt::print("{} {} {} {} ({}): {}\n", coloured("DIFFERS", Ink::red, stdout), kernel.architecture,
                 kernel.op, kernel.dtype, kernel.kernel, mismatch);
  for (const std::string& why : audit.not_run)
    fmt::print("{}: {}\n", coloured("not_run", Ink::yellow, stdout), why);
  fmt::print("\n{} kernels read from their machine code, none executed\n", audit.kernels.size());
}

nlohmann::ordered_json to_json(const std::map<int, int>& counts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [bytes, count] : counts) json[std::to_string(bytes)] = count;
  return json;
}

nlohmann::ordered_json to_json(const Audit& audit) {
  nlohmann::ordered_json json{{"evidence", name(Evidence::audited)},
                              {"kernels", nlohmann::ordered_json::array()}};
  for (const AuditedKernel& kernel : audit.kernels) {
    const AuditFacts& facts = kernel.facts;
    json["kernels"].push_back(
        {{"architecture", kernel.architecture},
         {"implementation", kernel.implementation},
         {"machine_code_key", machine_code_key(kernel.implementation, kernel.architecture).value_or("")},
         {"operator", kernel.op},
         {"dtype", kernel.dtype},
         {"kernel", kernel.kernel},
         {"sum", name(facts.sum)},
         {"from_add_to_gelu", facts.between},
         {"unit_functions", facts.unit_functions},
         {"integer_reciprocals", facts.integer_reciprocals},
         {"loads", to_json(facts.loads)},
         {"stores", to_json(facts.stores)},
         {"spills", facts.spills},
         {"waits_for_producer", facts.waits_for_producer},
         {"releases_consumer", facts.releases_consumer},
         {"as_agreed", kernel.mismatches.empty()},
         {"mismatches", kernel.mismatches}});
  }
  json["not_run"] = audit.not_run;
  return json;
}

int run(const AuditOptions& options) {
  const Audit audit = audit_all(options);
  if (audit.kernels.empty() && audit.not_run.empty()) {
    fmt::print(stderr,
               "bitproof: no kernel matches --op and --arch; see `./bitproof list` for those there are\n");
    return kBadUsage;
  }
  if (options.json) {
    fmt::print("{}\n", to_json(audit).dump(2));
  } else {
    print_people(audit);
  }
  for (const AuditedKernel& kernel : audit.kernels)
    if (!kernel.mismatches.empty()) return kFailed;
  return audit.not_run.empty() ? kPassed : kCouldNotRun;
}

}  // namespace

void add_audit_command(CLI::App& app, int& status) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command =
      app.add_subcommand("audit", "What the machine code of each architecture does, against the contract");
  command->add_option("--op", options->op, "Operator, name or glob");
  command->add_option("--arch", options->architecture, "Architecture (sm_90), name or glob");
  command->add_flag("--json", options->json, "JSON instead of a table");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace bitproof::conformance
