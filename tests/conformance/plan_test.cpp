// Which checks a run performs.
#include "conformance/runner/plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/report/combine.h"
#include "kernels/architecture.h"

namespace bitproof::conformance {
namespace {

const std::string kWhy = "no CUDA device: for the test; none is needed";

std::vector<PlannedCheck> checks_without_device() {
  return all_checks(reference::kPytorch211Cuda, 1, {.devices = {}, .none_because = kWhy});
}

std::vector<PlannedCheck> checks_of_two_devices() {
  const Device facts{"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.1"};
  return all_checks(reference::kPytorch211Cuda, 1, {.devices = {{0, facts}, {1, facts}}, .none_because = ""});
}

std::vector<std::string> values_of(const std::vector<PlannedCheck>& checks, std::string Record::*field) {
  std::vector<std::string> values = distinct(checks, field);
  std::ranges::sort(values);
  return values;
}

Selection of(const std::string& op, const std::string& dtype, const std::string& implementation,
             const std::string& domain) {
  return {.op = op, .dtype = dtype, .implementation = implementation, .domain = domain, .device = {}};
}

TEST(Plan, RecordsAreNotRunYetAndDistinct) {
  std::set<std::string> identities;
  for (const PlannedCheck& check : checks_without_device()) {
    EXPECT_EQ(check.record.verdict, Verdict::not_run);
    EXPECT_EQ(check.record.tested, 0u);
    EXPECT_GT(check.record.total, 0u);
    EXPECT_GT(check.record.blocks_total, 0u);
    EXPECT_FALSE(check.record.profile.empty());
    EXPECT_TRUE(
        identities.insert(label(check.record) + " " + check.record.device + " " + check.record.profile).second)
        << label(check.record);
  }
}

TEST(Plan, WithoutADeviceItsChecksSayWhyTheyCannotRun) {
  std::size_t on_cuda = 0;
  for (const PlannedCheck& check : checks_without_device()) {
    if (check.record.evidence == "emulated") continue;  // needs listings, and no device
    const bool on_cpu = check.record.device == "cpu";
    EXPECT_EQ(static_cast<bool>(check.start), on_cpu) << label(check.record);
    EXPECT_EQ(check.unavailable, on_cpu ? "" : kWhy);
    on_cuda += on_cpu ? 0 : 1;
  }
  EXPECT_GT(on_cuda, 0u);
}

TEST(Plan, HasEveryCheckOnEveryDevice) {
  const auto count = [](const std::vector<PlannedCheck>& checks, const std::string& device) {
    return std::ranges::count_if(checks,
                                 [&](const PlannedCheck& check) { return check.record.device == device; });
  };
  const auto with = checks_of_two_devices(), without = checks_without_device();
  EXPECT_EQ(count(with, "cuda:0"), count(without, "cuda"));
  EXPECT_EQ(count(with, "cuda:1"), count(without, "cuda"));
  EXPECT_EQ(count(with, "cpu"), count(without, "cpu"));
  EXPECT_EQ(count(with, "cuda"), 0);
}

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(matches_glob("gelu_tanh", "gelu_tanh"));
  EXPECT_FALSE(matches_glob("gelu", "gelu_tanh"));
  EXPECT_TRUE(matches_glob("*gelu*", "bias_gelu_tanh"));
  EXPECT_TRUE(matches_glob("cuda.*", "cuda.fused"));
  EXPECT_FALSE(matches_glob("cuda.*", "cudaxfused")) << "a dot is a dot";
  EXPECT_TRUE(matches_glob("?p16", "fp16"));
  EXPECT_TRUE(matches_glob("[bf][fp]16", "bf16"));
}

TEST(Select, NarrowsByNameAndGlob) {
  const auto one = select(checks_without_device(), of("gelu_tanh", "fp16", "host.fused", "values"));
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(label(one->front().record), "gelu_tanh fp16 host.fused values x86_64");
  const auto several = select(checks_without_device(), of("*gelu_tanh", "bf16", "host.*", "[vb]*"));
  ASSERT_TRUE(several);
  EXPECT_EQ(values_of(*several, &Record::domain), (std::vector<std::string>{"boundary", "values"}));
}

TEST(Select, WithoutADomainLeavesOutWhatTakesMinutesOnTheCpu) {
  const auto by_default = select(checks_without_device(), {});
  ASSERT_TRUE(by_default);
  for (const PlannedCheck& check : *by_default)
    EXPECT_FALSE(check.record.domain == "pairs" && check.record.device == "cpu");
  Selection pairs;
  pairs.domain = "pairs";
  const auto asked_for = select(checks_without_device(), pairs);
  ASSERT_TRUE(asked_for);
  EXPECT_TRUE(
      std::ranges::any_of(*asked_for, [](const PlannedCheck& check) { return check.record.device == "cpu"; }));
}

std::vector<std::string> devices_of(std::vector<PlannedCheck> checks, const std::string& device) {
  Selection selection;
  selection.device = device;
  const auto selected = select(std::move(checks), selection);
  return selected ? values_of(*selected, &Record::device) : std::vector<std::string>{"error"};
}

TEST(Select, NarrowsByDevice) {
  EXPECT_EQ(devices_of(checks_of_two_devices(), "cpu"), std::vector<std::string>{"cpu"});
  EXPECT_EQ(devices_of(checks_of_two_devices(), "cuda"), (std::vector<std::string>{"cuda:0", "cuda:1"}));
  EXPECT_EQ(devices_of(checks_of_two_devices(), "cuda:1"), std::vector<std::string>{"cuda:1"});
  const std::vector<std::string> all = devices_of(checks_of_two_devices(), "all");
  EXPECT_EQ(std::vector(all.begin(), all.begin() + 3), (std::vector<std::string>{"cpu", "cuda:0", "cuda:1"}));
  EXPECT_EQ(all.back(), "sm_100") << "stands for a device that some check needs and these are not";
  EXPECT_EQ(all.size(), 4 + kernels::kArchitectures.size());
  // A machine without a device has a stand-in, whose records say why nothing ran.
  EXPECT_EQ(devices_of(checks_without_device(), "cuda:7"), std::vector<std::string>{"cuda"});
}

TEST(Select, EmulatedChecksRunWhereTheyAreAskedFor) {
  EXPECT_EQ(devices_of(checks_without_device(), "emulated").size(), kernels::kArchitectures.size());
  EXPECT_EQ(devices_of(checks_without_device(), "emulated:sm_80"), std::vector<std::string>{"emulated:sm_80"});
  EXPECT_EQ(devices_of(checks_without_device(), "emulated:sm_75"), std::vector<std::string>{"error"});
  const auto by_default = select(checks_without_device(), {});
  ASSERT_TRUE(by_default);
  for (const PlannedCheck& check : *by_default)
    EXPECT_EQ(check.record.evidence, "executed") << label(check.record);
  Selection by_name;
  by_name.implementation = "emulated.fused";
  const auto named = select(checks_without_device(), by_name);
  ASSERT_TRUE(named);
  for (const PlannedCheck& check : *named) EXPECT_EQ(check.record.evidence, "emulated") << label(check.record);
}

TEST(Plan, WhatIsEmulatedNeverCallsItselfExecuted) {
  std::size_t emulated = 0;
  for (const PlannedCheck& check : checks_without_device()) {
    const bool is_emulated = check.record.implementation.starts_with("emulated.");
    EXPECT_EQ(check.record.evidence, is_emulated ? "emulated" : "executed") << label(check.record);
    if (!is_emulated) continue;
    ++emulated;
    EXPECT_EQ(check.record.device, "emulated:" + check.record.architecture);
    EXPECT_EQ(static_cast<bool>(check.start), check.unavailable.empty());
  }
  // 2 families, 2 dtypes, 9 domains of both operators together, on each architecture; eager over 4, and on
  // sm_90 two more.
  EXPECT_EQ(emulated, kernels::kArchitectures.size() * (2 * 2 * 9 + 2 * 4) + 2 * 2);
}

Error error_of(const Selection& selection) {
  const auto selected = select(checks_without_device(), selection);
  EXPECT_FALSE(selected);
  return selected ? Error{} : selected.error();
}

TEST(Select, NamesWhatMatchedNothingAndWhatThereIs) {
  Selection selection;
  selection.op = "relu";
  Error error = error_of(selection);
  EXPECT_EQ(error.kind, ErrorKind::bad_argument);
  EXPECT_EQ(error.where, "--op relu");
  EXPECT_EQ(error.what, "matches nothing");
  EXPECT_TRUE(error.remedy.starts_with("use one of bias_gelu_tanh, gelu_tanh")) << error.remedy;

  selection = {};
  selection.dtype = "fp64";
  error = error_of(selection);
  EXPECT_EQ(error.where, "--dtype fp64");
  EXPECT_NE(error.remedy.find("bf16, fp16"), std::string::npos) << error.remedy;

  selection = {};
  selection.implementation = "host.*x";
  error = error_of(selection);
  EXPECT_EQ(error.where, "--impl host.*x");
  EXPECT_NE(error.remedy.find("host.fused"), std::string::npos) << error.remedy;

  selection = {};
  selection.domain = "everything";
  error = error_of(selection);
  EXPECT_EQ(error.where, "--domain everything");
  for (const char* const domain : {"values", "boundary", "random", "layout", "production", "pairs_factored"})
    EXPECT_NE(error.remedy.find(domain), std::string::npos) << error.remedy;

  selection = {};
  selection.device = "tpu";
  error = error_of(selection);
  EXPECT_EQ(error.where, "--device tpu");
  EXPECT_NE(error.remedy.find("cpu, cuda, cuda:N, emulated, emulated:sm_NN, all"), std::string::npos) << error.remedy;
}

TEST(Select, SaysWhenOnlyTheCombinationMatchesNothing) {
  Selection selection;
  selection.op = "gelu_tanh";
  selection.domain = "pairs";  // of biased operators only
  EXPECT_EQ(error_of(selection).what, "each option matches something, but no check matches all of them");
}

}  // namespace
}  // namespace bitproof::conformance
