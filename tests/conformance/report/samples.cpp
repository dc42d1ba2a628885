#include "tests/conformance/report/samples.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "conformance/digest.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance::testing {
namespace {

std::uint16_t right_bits(std::uint64_t index) { return static_cast<std::uint16_t>(mix64(index)); }

// ULP distance of the synthetic implementation's result: 1, 2, 4, ... 64, 1, ... in turn at the wrong elements.
std::uint64_t distance(std::uint64_t index, std::uint64_t every) {
  return every != 0 && index % every == every - 1 ? std::uint64_t{1} << (index / every % 7) : 0;
}

Counterexample counterexample(std::uint64_t index, std::uint64_t ulp) {
  Counterexample c;
  c.inputs = {fmt::format("x={:#06x}", index)};
  c.expected = fmt::format("{:#06x}", right_bits(index));
  c.got = fmt::format("{:#06x}", static_cast<std::uint16_t>(right_bits(index) + ulp));
  c.kind = "value";
  c.expected_value = 1.5;
  c.got_value = 1.5 + static_cast<double>(ulp);
  c.ulp = ulp;
  c.rows = 1;
  c.width = kBlocks * kBlockSize;
  c.column = index;
  c.vector_lane = static_cast<std::uint32_t>(index % 8);
  c.block = index / kBlockSize;
  c.layout = "contiguous";
  c.parts_at = "rounded sum";
  c.reproduce = fmt::format("./bitproof trace --op gelu_tanh --dtype bf16 --x {:#06x}", index);
  c.diagnosis = "differs exactly as a kernel that skips the rounding of the sum would";
  c.smallest = SmallestCase{.rows = 1,
                            .width = 8,
                            .row = 0,
                            .column = index % 8,
                            .inputs = c.inputs,
                            .expected = c.expected,
                            .got = c.got,
                            .place = "",
                            .layout = "contiguous",
                            .element = "1x8,0,0,x=0x3c00,bias=0x8000",
                            .reproduce = "./bitproof run --case 1x8,0,0,x=0x3c00,bias=0x8000"};
  return c;
}

// Small and large errors have different causes.
void add_cause(Record& record, const Counterexample& example) {
  const std::string name = example.ulp < 8 ? "small" : "large";
  const auto at = std::ranges::lower_bound(record.causes, name, {}, &Cause::name);
  if (at != record.causes.end() && at->name == name) {
    ++at->count;
  } else {
    record.causes.insert(at, {name, 1, example});
  }
}

// Blocks take turns with two algorithms.
void add_algorithm(Record& record, std::uint64_t block) {
  const std::string description = fmt::format("algorithm {}", block % 2);
  auto at = std::ranges::lower_bound(record.algorithms, description, {}, &LibraryAlgorithm::description);
  if (at == record.algorithms.end() || at->description != description)
    at = record.algorithms.insert(at, {description, block % 2 + 1, 4096, {}});
  at->shapes.push_back(fmt::format("{} x 8 -> 8", block));
  std::ranges::sort(at->shapes);
}

void add_element(Record& record, std::uint64_t index, std::uint64_t every) {
  const std::uint64_t ulp = distance(index, every);
  ++record.tested;
  record.expected_digest += digest_term(record.seed, index, right_bits(index));
  record.digest += digest_term(record.seed, index, static_cast<std::uint16_t>(right_bits(index) + ulp));
  if (ulp == 0) return;
  ++record.mismatches;
  ++record.kinds.value;
  ++record.ulp_histogram[static_cast<std::size_t>(std::bit_width(ulp))];
  record.max_ulp = std::max(record.max_ulp, ulp);
  record.errors.resize(kBlocks * kBlockSize);
  record.errors[index] = static_cast<std::uint8_t>(ulp);
  add_cause(record, counterexample(index, ulp));
  if (!record.first) record.first = counterexample(index, ulp);
}

}  // namespace

Record planned_record(const std::string& op, const std::string& domain) {
  Record record;
  record.op = op;
  record.dtype = "bf16";
  record.implementation = "host.fused";
  record.domain = domain;
  record.device = "cpu";
  record.architecture = "x86_64";
  record.profile = "pytorch-2.11-cuda";
  record.equality = "bitwise";
  record.evidence = "executed";
  record.machine_code_key = std::string(64, 'a');
  record.seed = 42;
  record.total = kBlocks * kBlockSize;
  record.unit = "values";
  record.blocks_total = kBlocks;
  return record;
}

Record tested_record(Record record, std::span<const BlockRange> blocks, std::uint64_t every) {
  record.blocks = unite(blocks, {});
  for (const BlockRange& range : record.blocks) {
    for (std::uint64_t block = range.begin; block < range.end; ++block) add_algorithm(record, block);
    for (std::uint64_t index = range.begin * kBlockSize; index < range.end * kBlockSize; ++index)
      add_element(record, index, every);
  }
  record.seconds = 0.25 * static_cast<double>(count_blocks(record.blocks));
  return decided(std::move(record), {0, kBlocks});
}

Record perfect_record(const std::string& op, const std::string& domain) {
  const BlockRange all{0, kBlocks};
  return tested_record(planned_record(op, domain), {&all, 1}, 0);
}

Environment sample_environment() {
  return {.tool_version = "0.1.0",
          .tool_build = "build-1",
          .host = "node1",
          .os = "Debian GNU/Linux 12",
          .cpu = "AMD EPYC 9654, 2 threads",
          .toolchain = "g++ 12.2.0",
          .devices = {{"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.1"}},
          .started = "2026-03-01T12:00:00Z"};
}

Report sample_plan(std::size_t records) {
  Report plan;
  plan.environment = sample_environment();
  plan.profile = "pytorch-2.11-cuda";
  plan.seed = 42;
  for (std::size_t i = 0; i < records; ++i) plan.records.push_back(planned_record(fmt::format("op{}", i)));
  plan.run_id = run_id_of(plan);
  return plan;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
}

}  // namespace bitproof::conformance::testing
