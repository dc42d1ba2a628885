// Writes many reports of many records for measuring `bitproof merge`:
//   many_reports DIRECTORY REPORTS RECORDS shards|machines
// As shards of one run, or as runs of machines of other architectures each.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "conformance/report/combine.h"
#include "tests/conformance/report/samples.h"

int main(int argc, char** argv) {
  using namespace bitproof::conformance;
  if (argc != 5) {
    std::fputs("usage: many_reports DIRECTORY REPORTS RECORDS shards|machines\n", stderr);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  const std::uint64_t reports = std::strtoull(argv[2], nullptr, 10);
  const bool shards = std::string_view{argv[4]} == "shards";
  Report plan = testing::sample_plan(std::strtoull(argv[3], nullptr, 10));
  if (shards) plan.shard.count = reports;
  plan.run_id = run_id_of(plan);
  for (std::uint64_t i = 0; i < reports; ++i) {
    Report report = plan;
    report.environment.host = fmt::format("node{}", i);
    if (shards) {
      report.shard.index = i;
    } else {
      report.run_id = fmt::format("{:016x}", i);
    }
    for (Record& record : report.records) {
      record.blocks_total = 4096;
      record.total = 4294967296;
      record.blocks = {share_of(report.shard, record.blocks_total)};
      record.tested = count_blocks(record.blocks) * (record.total / record.blocks_total);
      record.digest = record.expected_digest = (i + 1) * 0x9e3779b97f4a7c15u;
      record.seconds = 1.25;
      if (!shards) record.architecture = fmt::format("arch_{}", i);
      record = decided(std::move(record), share_of(report.shard, record.blocks_total));
    }
    const std::filesystem::path file = directory / fmt::format("{:04}", i) / kReportFile;
    std::filesystem::create_directories(file.parent_path());
    testing::write_text(file, to_text(report));
  }
}
