#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/linear_gelu/dispatch_file.h"
#include "kernels/linear_gelu/dispatch_table.h"
#include "kernels/linear_gelu/dispatcher.h"
#include "tests/kernels/linear_gelu/layer_fixture.h"

namespace bitproof::kernels {
namespace {

using test::LayerFixture;

LinearGeluChoice choice(Quality quality, int compute_capability, const DispatchTable& table = {}) {
  LayerFixture f;
  return choose_linear_gelu_path(quality, f.layer, *f.x, *f.output, compute_capability, table);
}

struct ArchitectureCase {
  int compute_capability;
  LinearGeluPath high;
  std::string reason;
};

TEST(LinearGeluDispatch, ChoosesPerArchitecture) {
  using enum LinearGeluPath;
  const std::string unmeasured = "the epilogue was not measured on this architecture";
  const std::string faster =
      "the epilogue is the faster path (measured by us: H200, CUDA 13.0, cuBLASLt 13.1.1, bf16, medians)";
  const auto slower = [](const std::string& version) {
    return "on architecture " + version +
           " the epilogue is slower than GEMM followed by GELU (published for RTX 5090 "
           "(12.0), bf16: 295.96 us fused, 235.67 us eager)";
  };
  const std::vector<ArchitectureCase> cases{
      {75, eager, unmeasured},  {80, eager, unmeasured},      {86, eager, unmeasured},
      {87, eager, unmeasured},  {89, eager, unmeasured},      {90, cublaslt, faster},
      {100, eager, unmeasured}, {101, eager, unmeasured},     {103, eager, unmeasured},
      {110, eager, unmeasured}, {120, eager, slower("12.0")}, {121, eager, slower("12.1")}};
  for (const ArchitectureCase& expected : cases) {
    const LinearGeluChoice high = choice(Quality::high, expected.compute_capability);
    EXPECT_EQ(high.path, expected.high) << expected.compute_capability;
    EXPECT_EQ(high.reason, expected.reason) << expected.compute_capability;
    EXPECT_EQ(choice(Quality::lossless, expected.compute_capability).path, eager)
        << expected.compute_capability;
  }
}

TEST(LinearGeluDispatch, SaysWhyALosslessRequestIsEager) {
  EXPECT_EQ(choice(Quality::lossless, 90).reason,
            "a lossless request takes the eager path: the epilogue's bits differ");
}

TEST(LinearGeluDispatch, IsEagerWithTheGuardsReasonWhereTheGuardRefuses) {
  LayerFixture f;
  f.layer.bias_deferred = true;
  const LinearGeluChoice choice = choose_linear_gelu_path(Quality::high, f.layer, *f.x, *f.output, 90);
  EXPECT_EQ(choice.path, LinearGeluPath::eager);
  EXPECT_EQ(choice.reason, "the bias is deferred (skip_bias_add): GELU would miss it");
}

TEST(LinearGeluDispatch, IsEagerForADtypeThatWasNotMeasured) {
  // The built-in times of sm_90 are bf16's.
  EXPECT_EQ(DispatchTable{}.path_for(90, HalfType::bf16, 1000, 8, 8), LinearGeluPath::cublaslt);
  EXPECT_EQ(DispatchTable{}.path_for(90, HalfType::fp16, 512, 12288, 3072), LinearGeluPath::eager);
}

TEST(LinearGeluDispatch, TakesTheFasterPathOfAMeasuredShapeAndEagerElsewhereWhenTheyDisagree) {
  DispatchTable table;
  const std::vector<LinearGeluTimes> times{{HalfType::bf16, 512, 12288, 3072, 80, 70},
                                           {HalfType::bf16, 4096, 12288, 3072, 400, 410}};
  table.set_measured(100, {.epilogue = summarise(times), .source = "measured", .times = times});
  EXPECT_EQ(table.path_for(100, HalfType::bf16, 512, 12288, 3072), LinearGeluPath::cublaslt);
  EXPECT_EQ(table.path_for(100, HalfType::bf16, 4096, 12288, 3072), LinearGeluPath::eager);
  EXPECT_EQ(table.path_for(100, HalfType::bf16, 2048, 12288, 3072), LinearGeluPath::eager);
  EXPECT_EQ(choice(Quality::high, 100, table).path, LinearGeluPath::cublaslt);
  EXPECT_EQ(choice(Quality::high, 103, table).path, LinearGeluPath::eager) << "measured on 10.0 alone";
}

TEST(LinearGeluDispatch, CountsADrawForEager) {
  EXPECT_EQ((LinearGeluTimes{HalfType::bf16, 1, 8, 8, 5, 5}.faster()), LinearGeluPath::eager);
}

DispatchMeasurement example() {
  return {.compute_capability = 120,
          .device = "NVIDIA GeForce RTX 5090",
          .driver = "580.65.06",
          .cublaslt_version = "13.1.1",
          .times = {{HalfType::bf16, 512, 12288, 3072, 235.67, 230.5},
                    {HalfType::fp16, 512, 12288, 3072, 235, 300}}};
}

std::string error_of(const std::string& text) {
  const auto result = dispatch_from_json(text);
  const auto* error = std::get_if<DispatchFileError>(&result);
  return error != nullptr ? error->message : "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// A directory of its own for each test, removed at the end.
class DispatchFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("bitproof_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(DispatchFile, IsReadBackAsItWasWritten) {
  const std::filesystem::path path = directory_ / "sm_120.json";
  ASSERT_TRUE(std::holds_alternative<std::monostate>(write_dispatch_file(path, example())));
  const auto read = read_dispatch_file(path);
  ASSERT_TRUE(std::holds_alternative<DispatchMeasurement>(read));
  EXPECT_EQ(std::get<DispatchMeasurement>(read), example());
}

TEST_F(DispatchFile, ChangesWhatTheDispatcherChooses) {
  const std::filesystem::path path = directory_ / "sm_120.json";
  ASSERT_TRUE(std::holds_alternative<std::monostate>(write_dispatch_file(path, example())));
  const auto measured = std::get<DispatchMeasurement>(read_dispatch_file(path));
  DispatchTable table;
  table.set_measured(measured.compute_capability, measured.rule());
  EXPECT_EQ(table.rule_for(120).epilogue, EpilogueSpeed::mixed);
  const LinearGeluChoice high = choice(Quality::high, 120, table);
  EXPECT_EQ(high.path, LinearGeluPath::cublaslt);
  EXPECT_EQ(
      high.reason,
      "the epilogue is the faster path (measured: NVIDIA GeForce RTX 5090, driver 580.65.06, cuBLASLt 13.1.1)");
}

TEST_F(DispatchFile, IsReplacedAsAWhole) {
  const std::filesystem::path path = directory_ / "sm_120.json";
  std::ofstream(path) << "half of";
  ASSERT_TRUE(std::holds_alternative<std::monostate>(write_dispatch_file(path, example())));
  EXPECT_TRUE(std::holds_alternative<DispatchMeasurement>(read_dispatch_file(path)));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "sm_120.json.new"));
}

TEST_F(DispatchFile, SaysWhichFileCannotBeReadOrWritten) {
  const auto read = read_dispatch_file(directory_ / "absent.json");
  ASSERT_TRUE(std::holds_alternative<DispatchFileError>(read));
  EXPECT_NE(std::get<DispatchFileError>(read).message.find("absent.json: cannot be read"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<DispatchFileError>(
      write_dispatch_file(directory_ / "no" / "where.json", example())));
}

TEST(DispatchJson, RefusesWhatItCannotTrust) {
  const std::string good = to_json(example());
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_NE(error_of("{"), "no error");
  EXPECT_NE(error_of("{}"), "no error");
  EXPECT_EQ(error_of(replaced(good, "dispatch 1", "dispatch 2")),
            "\"format\" is not \"bitproof linear_gelu_tanh dispatch 1\"");
  EXPECT_EQ(error_of(replaced(good, "\"bf16\"", "\"fp8\"")), "dtype \"fp8\" is neither bf16 nor fp16");
  EXPECT_EQ(error_of(replaced(good, "235.67", "-235.67")), "a time is not positive");
  EXPECT_EQ(error_of(replaced(good, "\"rows\": 512", "\"rows\": 0")), "a shape is not positive");
  EXPECT_EQ(error_of(replaced(good, "\"cuda.cublaslt\"", "\"cuda.eager\"")),
            "\"path\" is not the path of the smaller time");
}

}  // namespace
}  // namespace bitproof::kernels
