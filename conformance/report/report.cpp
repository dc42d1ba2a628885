#include "conformance/report/report.h"

#include <set>

#include <fmt/format.h>

#include "conformance/report/json_reader.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance {

std::string run_id_of(const Report& plan) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", plan.environment.tool_build, to_hex(plan.seed), plan.shard.count);
  // A set: a host with two devices plans the same record twice, and is no other run for that.
  std::set<std::string> lines;
  for (const Record& r : plan.records)
    lines.insert(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", r.op, r.dtype, r.implementation, r.domain, r.profile,
                             r.equality));
  for (const std::string& line : lines) text += line;
  return sha256_hex(text).substr(0, 16);
}

}  // namespace bitproof::conformance
