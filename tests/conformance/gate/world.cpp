#include "tests/conformance/gate/world.h"

#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>

#include "conformance/gate/commands.h"
#include "conformance/report/combine.h"
#include "conformance/report/json_reader.h"
#include "conformance/report/utc.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance::testing {
namespace {

using nlohmann::json;

// A file in memory that prints can go to.
class MemoryFile {
 public:
  MemoryFile() : file_(::open_memstream(&data_, &size_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    std::fclose(file_);
    std::free(data_);
  }
  std::FILE* get() const { return file_; }
  std::string text() const {
    std::fflush(file_);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

Report shard_of_cpu_run(std::uint64_t index) {
  Report report = sample_plan(0);
  report.environment.devices.clear();
  report.environment.host = index == 0 ? "cpu1" : "cpu2";
  report.shard = {index, 2};
  const BlockRange share = share_of(report.shard, kBlocks);
  for (const char* domain : {"values", "boundary", "random"}) {
    Record record = tested_record(planned_record("gelu_tanh", domain), {&share, 1}, 0);
    report.records.push_back(decided(std::move(record), share));
  }
  report.run_id = run_id_of(report);
  return report;
}

json required(const char* implementation, const char* architecture,
              std::initializer_list<const char*> domains) {
  return {{"operators", {"gelu_tanh"}},
          {"dtypes", {"bf16"}},
          {"implementations", {implementation}},
          {"domains", std::vector<std::string>(domains.begin(), domains.end())},
          {"architectures", {architecture}}};
}

json known_mismatch_of(const Record& record) {
  return {{"operator", record.op},
          {"dtype", record.dtype},
          {"implementation", record.implementation},
          {"domain", record.domain},
          {"architecture", record.architecture},
          {"profile", record.profile},
          {"library_version", record.library_version},
          {"seed", to_hex(record.seed)},
          {"kinds", json::parse(conformance::to_json(record)["kinds"].dump())},
          {"max_ulp", record.max_ulp},
          {"digest", to_hex(record.digest)},
          {"reason", "the library's epilogue rounds once"}};
}

std::string write(const TemporaryDirectory& directory, const std::string& name, const std::string& text) {
  write_text(directory.path() / name, text);
  return (directory.path() / name).string();
}

}  // namespace

Record& World::values() { return gpu.records[0]; }
Record& World::pairs() { return gpu.records[1]; }
Record& World::known_wrong() { return gpu.records[2]; }

void World::waive(const std::string& finding, const std::string& domain, const std::string& expires) {
  policy["waivers"].push_back({{"operator", "gelu_tanh"},
                               {"dtype", "bf16"},
                               {"implementation", "cuda.fused"},
                               {"domain", domain},
                               {"architecture", "sm_90"},
                               {"finding", finding},
                               {"reason", "the card is being replaced"},
                               {"owner", "kernels team"},
                               {"expires", expires}});
}

Record gpu_record(const std::string& implementation, const std::string& domain, std::uint64_t every) {
  Record record = planned_record("gelu_tanh", domain);
  record.implementation = implementation;
  record.device = "cuda:0";
  record.architecture = "sm_90";
  if (implementation == "cuda.cublaslt") record.library_version = "13.1.1";
  const BlockRange all{0, kBlocks};
  return tested_record(std::move(record), {&all, 1}, every);
}

World green_world() {
  World world;
  world.cpu_first = shard_of_cpu_run(0);
  world.cpu_second = shard_of_cpu_run(1);
  world.gpu = sample_plan(0);
  world.gpu.environment.host = "gpu1";
  world.gpu.records = {gpu_record("cuda.fused", "values", 0), gpu_record("cuda.fused", "pairs", 0),
                       gpu_record("cuda.cublaslt", "values", 1000)};
  world.gpu.run_id = run_id_of(world.gpu);

  world.policy = {
      {"schema_version", "1.0"},
      {"name", "green world"},
      {"profile", "pytorch-2.11-cuda"},
      {"minimum_tested", {{"values", 65536}}},
      {"required",
       {required("host.fused", "x86_64", {"values", "boundary", "random"}),
        required("cuda.fused", "sm_90", {"values", "pairs"}), required("cuda.cublaslt", "sm_90", {"values"})}},
      {"compiled_only", {{{"architecture", "sm_80"}, {"reason", "no card"}}}}};
  world.policy["required"][2]["accept"] = {"known_mismatch"};
  world.expectations = {{"schema_version", "1.0"}, {"expectations", {known_mismatch_of(world.known_wrong())}}};

  world.tree.machine_code_key = [](const Record&) { return std::string(64, 'a'); };
  world.tree.expected_digest = [](const std::string&, const std::string&, const std::string&,
                                  const std::string&, std::uint64_t) {
    static const std::uint64_t digest = perfect_record("gelu_tanh").expected_digest;
    return digest;
  };
  world.now = *parse_utc("2026-03-02T12:00:00Z");  // a day after the reports
  return world;
}

GateRun run_command(const std::vector<std::string>& arguments, const World& world) {
  const MemoryFile out, err;
  const GateServices services{.tree = world.tree,
                              .expectations = {},
                              .now = [&] { return world.now; },
                              .out = out.get(),
                              .err = err.get()};
  CLI::App app{"bitproof"};
  GateRun run;
  add_gate_command(app, services, run.status);
  add_merge_command(app, services, run.status);
  add_show_command(app, services, run.status);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  app.parse(reversed);
  run.out = out.text();
  run.err = err.text();
  run.json = json::parse(run.out, nullptr, false);
  return run;
}

GateRun run_gate(const World& world, const std::vector<std::string>& arguments,
                 const std::function<std::string(std::string)>& damage) {
  const TemporaryDirectory directory;
  std::vector<std::string> line{"gate"};
  std::vector<Report> reports{world.cpu_first, world.cpu_second};
  reports.insert(reports.end(), world.more.begin(), world.more.end());
  for (const Report& report : reports)
    line.push_back(write(directory, "report" + std::to_string(line.size()) + ".json", to_text(report)));
  const std::string gpu = to_text(world.gpu);
  line.push_back(write(directory, "gpu.json", damage ? damage(gpu) : gpu));
  line.insert(line.end(), {"--policy", write(directory, "policy.jsonc", world.policy.dump(2)), "--expectations",
                           write(directory, "expectations.json", world.expectations.dump(2))});
  line.insert(line.end(), arguments.begin(), arguments.end());
  return run_command(line, world);
}

}  // namespace bitproof::conformance::testing
