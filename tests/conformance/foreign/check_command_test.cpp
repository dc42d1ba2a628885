// `./bitproof check` as its users meet it, with shared libraries that run on the CPU.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

struct Outcome {
  int status = -1;
  std::string out, err;
};

class CheckCommand : public ::testing::Test {
 protected:
  // In a directory of its own, with no GPU to be seen.
  Outcome check(const std::string& arguments) const {
    const std::string command = "cd '" + directory_.path().string() +
                                "' && CUDA_VISIBLE_DEVICES= '" BITPROOF_EXECUTABLE "' check " + arguments +
                                " >out 2>err </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, testing::read_text(directory_.path() / "out"),
            testing::read_text(directory_.path() / "err")};
  }

  static std::string library(const std::string& kernel) {
    return std::string(BITPROOF_TEST_KERNELS "/libtest_kernel_") + kernel + ".so ";
  }

  // The report of a check of one of the test kernels.
  nlohmann::json report(const std::string& kernel, const std::string& arguments, int status) const {
    const Outcome outcome = check(library(kernel) + arguments + " --json");
    EXPECT_EQ(outcome.status, status) << kernel << ": " << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(testing::violation(nlohmann::json::parse(testing::read_text(BITPROOF_REPORT_SCHEMA)), json), "");
    return json;
  }

  testing::TemporaryDirectory directory_;
};

const std::string kBiased = "--op bias_gelu_tanh --dtype bf16 ";

TEST_F(CheckCommand, PassesARightKernelInEveryDomainOfTheCpu) {
  const auto records = report("right", kBiased, 0).at("records");
  ASSERT_EQ(records.size(), 5u);
  for (const auto& record : records) {
    EXPECT_EQ(record.at("verdict"), "bit_exact") << record.dump();
    EXPECT_EQ(record.at("tested"), record.at("total"));
    EXPECT_EQ(record.at("implementation"), "libtest_kernel_right.so");
    EXPECT_EQ(record.at("machine_code_key").get<std::string>().size(), 64u);
  }
}

TEST_F(CheckCommand, FindsAWrongKernelAndSaysHowToSeeItAgain) {
  const auto record = report("copies", kBiased + "--domain values", 1).at("records").at(0);
  EXPECT_EQ(record.at("verdict"), "mismatch");
  // The identity is right where GELU is: from about 4 on, and for zeros.
  EXPECT_GT(record.at("mismatches"), 40000);
  const std::string command = record.at("first").at("reproduce");
  EXPECT_TRUE(command.starts_with("./bitproof check ")) << command;
  const Outcome again = check(command.substr(std::string("./bitproof check ").size()));
  EXPECT_EQ(again.status, 1) << command << ": " << again.err;
  EXPECT_NE(again.out.find(record.at("first").at("got").get<std::string>()), std::string::npos);
}

TEST_F(CheckCommand, FindsAWriteBesideTheOutput) {
  const auto record = report("writes_too_much", kBiased + "--domain values", 1).at("records").at(0);
  EXPECT_EQ(record.at("verdict"), "mismatch");
  EXPECT_EQ(record.at("kinds").at("out_of_bounds"), 1);
  EXPECT_EQ(record.at("mismatches"), 1);
  const auto& first = record.at("first");
  EXPECT_EQ(first.at("parts_at"), "a write to element 0 past the end of the output");
  const std::string command = first.at("reproduce");
  ASSERT_TRUE(command.starts_with("./bitproof check ")) << command;
  const Outcome again = check(command.substr(std::string("./bitproof check ").size()));
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_NE(again.out.find("a write to element 0 past the end of the output"), std::string::npos) << again.out;
}

TEST_F(CheckCommand, SaysWhyAKernelRefusedFailedOrAnsweredNonsense) {
  const auto refused = report("refuses_all", kBiased + "--domain values", 1).at("records").at(0);
  EXPECT_EQ(refused.at("verdict"), "refused");
  EXPECT_EQ(refused.at("reason"), "contiguous: closed on Mondays");
  const auto failed = report("fails", kBiased + "--domain values", 3).at("records").at(0);
  EXPECT_EQ(failed.at("verdict"), "error");
  EXPECT_NE(failed.at("reason").get<std::string>().find("the kernel failed: no more paper"), std::string::npos);
  const auto nonsense = report("answers_nonsense", kBiased + "--domain values", 3).at("records").at(0);
  EXPECT_NE(nonsense.at("reason").get<std::string>().find("the kernel returned 7"), std::string::npos);
}

TEST_F(CheckCommand, OutlivesAKernelThatCrashesOrHangs) {
  const auto crashed = report("crashes", kBiased + "--domain values,boundary", 3).at("records");
  ASSERT_EQ(crashed.size(), 2u);
  for (const auto& record : crashed) {
    EXPECT_EQ(record.at("verdict"), "error");
    EXPECT_NE(record.at("reason").get<std::string>().find("signal"), std::string::npos) << record.at("reason");
  }
  const auto hung = report("hangs", kBiased + "--domain values --time-limit 1", 3).at("records").at(0);
  EXPECT_EQ(hung.at("verdict"), "error");
  EXPECT_NE(hung.at("reason").get<std::string>().find("1 s"), std::string::npos) << hung.at("reason");
}

TEST_F(CheckCommand, OutlivesALibraryThatCrashesWhenItIsLoaded) {
  const Outcome outcome = check(library("crashes_early") + kBiased);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("loading it: "), std::string::npos) << outcome.err;
}

TEST_F(CheckCommand, ErrorsNameTheThingAndTheRemedy) {
  const auto expect = [this](const std::string& arguments, const std::string& mention,
                             const std::string& remedy) {
    const Outcome outcome = check(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(outcome.err.starts_with("bitproof: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(mention), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(remedy), std::string::npos) << outcome.err;
  };
  testing::write_text(directory_.path() / "notes.txt", "not a kernel");
  expect("notes.txt " + kBiased, "notes.txt: is no kernel", "give a shared library, a .cu source");
  expect("missing.so " + kBiased, "missing.so: cannot be read", "name a file");
  expect(library("other_name") + kBiased, "exports no bitproof_kernel", "name it with --entry");
  expect(library("right") + "--op relu --dtype bf16", "--op relu", "use one of");
  expect(library("right") + kBiased + "--device tpu", "--device tpu: is no device", "use cpu, cuda or cuda:N");
  expect(library("right") + kBiased + "--domain values --block 1", "has 1 blocks", "counted from 0");
  expect(library("right") + kBiased + "--grid 4", "--grid: has no meaning for a shared library",
         "leave it out");
  expect(library("right") + kBiased + "--compiler-option -G", "--compiler-option: has no meaning",
         "leave it out");
  testing::write_text(directory_.path() / "kernel.cu", "__global__ void kernel() {}");
  expect("kernel.cu --op linear_gelu_tanh --dtype bf16", "kernel.cu: is a CUDA source", "check it from Python");
  expect(library("linear") + "--op linear_gelu_tanh --dtype bf16 --domain pairs",
         "--domain pairs: is no domain of linear_gelu_tanh", "use one or more of values, boundary");
  expect(library("linear") + "--op linear_gelu_tanh --dtype bf16 --profile eager",
         "--profile eager: is no profile of linear_gelu_tanh", "or cublaslt-13-gelu-epilogue");
  expect(library("right") + "--dtype bf16", "--op is required", "--help");
}

TEST_F(CheckCommand, FindsAnEntryOfAnotherName) {
  EXPECT_EQ(check(library("other_name") + kBiased + "--domain values --entry my_kernel").status, 0);
}

TEST_F(CheckCommand, WithoutAGpuItsKernelsAreNotRun) {
  testing::write_text(directory_.path() / "kernel.cu", "__global__ void kernel() {}");
  const Outcome outcome = check("kernel.cu " + kBiased);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.out.find("not_run"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("no CUDA device"), std::string::npos) << outcome.out;
  EXPECT_EQ(check("kernel.cu --device cpu " + kBiased).status, 2);
}

TEST_F(CheckCommand, HoldsALinearLayerToEitherPathAndSaysWhatItsBitsAreThoseOf) {
  const std::string linear = "--op linear_gelu_tanh --dtype bf16 --domain values ";
  const auto right = report("linear", linear, 0).at("records").at(0);
  EXPECT_EQ(right.at("verdict"), "bit_exact");
  EXPECT_EQ(right.at("tested"), 65536);
  EXPECT_EQ(right.at("algorithms").at(0).at("description"), "bits of 1 split; eager's GELU of the rounded sum");
  const auto wrong = report("linear", linear + "--profile cublaslt-13-gelu-epilogue", 1).at("records").at(0);
  EXPECT_EQ(wrong.at("profile"), "cublaslt-13-gelu-epilogue");
  EXPECT_EQ(wrong.at("mismatches"), 16278);  // as many as the epilogue has against eager: 60 + 128 + 16,090
  const Outcome words = check(library("linear") + linear);
  EXPECT_NE(words.out.find("in 1 of its shapes, 1 x 8 -> 65536 the first"), std::string::npos) << words.out;
}

TEST_F(CheckCommand, AdmitsUlpsOnlyWhereTheContractDoes) {
  // SiLU of the identity's results is far off, so that no small number of ULPs helps.
  EXPECT_EQ(check(library("copies") + "--op silu --dtype fp16 --domain values --equality 'ulp<=1'").status, 1);
  EXPECT_EQ(check(library("right") + "--op gelu_tanh --dtype fp16 --domain values --equality 'ulp<=1'").status,
            0);
}

}  // namespace
}  // namespace bitproof::conformance
