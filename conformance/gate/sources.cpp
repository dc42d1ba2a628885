#include "conformance/gate/sources.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "conformance/report/sha256.h"

namespace bitproof::conformance {
namespace {

auto order_of(const Source& s) {
  return std::tie(s.run_id, s.shard.index, s.environment.host, s.environment.started, s.content_sha256);
}

std::string common(const std::vector<Source>& sources, std::string Environment::*field) {
  const std::string& first = sources.front().environment.*field;
  const bool same =
      std::ranges::all_of(sources, [&](const Source& s) { return s.environment.*field == first; });
  return same ? first : "various";
}

}  // namespace

Source source_of(const StoredReport& stored) {
  const Report& report = stored.report;
  // Whole microseconds, so that the sum is exact.
  double microseconds = 0;
  for (const Record& record : report.records) microseconds += std::round(record.seconds * 1e6);
  return {report.run_id,         report.shard,       report.environment,
          report.records.size(), microseconds / 1e6, stored.content_sha256};
}

std::vector<std::uint32_t> sort_sources(std::vector<Source>& sources) {
  std::vector<std::uint32_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return order_of(sources[a]) < order_of(sources[b]); });
  std::vector<std::uint32_t> number(sources.size());
  std::vector<Source> sorted;
  for (const std::uint32_t old : order) {
    // The same report may have come directly and inside a merged one.
    if (sorted.empty() || sorted.back() != sources[old]) sorted.push_back(sources[old]);
    number[old] = static_cast<std::uint32_t>(sorted.size() - 1);
  }
  sources = std::move(sorted);
  return number;
}

Environment common_environment(const std::vector<Source>& sources) {
  Environment environment;
  for (std::string Environment::*field :
       {&Environment::tool_version, &Environment::tool_build, &Environment::host, &Environment::os,
        &Environment::cpu, &Environment::toolchain})
    environment.*field = common(sources, field);
  environment.started = sources.front().environment.started;
  for (const Source& source : sources) {
    environment.started = std::min(environment.started, source.environment.started);
    for (const Device& device : source.environment.devices) {
      if (std::ranges::find(environment.devices, device) == environment.devices.end())
        environment.devices.push_back(device);
    }
  }
  return environment;
}

std::string common_run_id(const std::vector<Source>& sources) {
  std::set<std::string> ids;
  for (const Source& source : sources) ids.insert(source.run_id);
  if (ids.size() == 1) return *ids.begin();
  return sha256_hex(fmt::format("{}", fmt::join(ids, "\n"))).substr(0, 16);
}

std::optional<MutationScore> worse(const std::optional<MutationScore>& a,
                                   const std::optional<MutationScore>& b) {
  if (!a || !b) return a ? a : b;
  const auto badness = [](const MutationScore& s) {
    return std::tuple(s.total - std::min(s.killed, s.total) + s.false_alarms, s.false_alarms, ~s.total);
  };
  return badness(*a) < badness(*b) ? b : a;
}

}  // namespace bitproof::conformance
