// The example of README.md: compiled here, run here, and the same text there.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/fusion/requests.h"
#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

void run_example(const Nvfp4Weight& nvfp4_weight, const DLTensor& bias1, const DLTensor& weight2,
                 const DLTensor& bias2, const DLTensor& x, const DLTensor& output, Executor& executor) {
  Linear first(nvfp4_weight, HalfType::bf16, &bias1), second(weight2, &bias2);
  Mlp mlp("mlp", first, second);
  Nvfp4BiasGeluGate gate;
  gate.mark(mlp);

  mlp.run(x, output, Quality::lossless, executor);  // eager, always
  if (const MountResult mount = gate.mount(mlp); !mount.mounted)
    throw std::runtime_error(mount.refusals.front().reason);
  mlp.run(x, output, Quality::high, executor);  // the same bits, bias and GELU in one kernel
  gate.unmount(mlp);
}

std::string contents(const std::string& file) {
  std::ifstream stream(std::string(BITPROOF_SOURCE) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The lines from the one that starts with `first`, as long as they start with `indent`, without it. Empty lines
// do not count.
std::string indented_lines(const std::string& file, const std::string& indent, const std::string& first) {
  std::istringstream lines(contents(file));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (result.empty() && !line.starts_with(indent + first)) continue;
    if (line.empty()) continue;
    if (!line.starts_with(indent)) break;
    result += line.substr(indent.size()) + "\n";
  }
  return result;
}

TEST(Example, OfTheReadmeIsThisOne) {
  const std::string first = "Linear first(nvfp4_weight";
  const std::string here = indented_lines("tests/kernels/mlp/example_test.cpp", "  ", first);
  EXPECT_FALSE(here.empty());
  EXPECT_EQ(indented_lines("README.md", "    ", first), here);
}

TEST(Example, GivesTheSameBitsMountedAndNot) {
  test::RecordingExecutor executor;
  test::GuardedTensor weight1({16, 16}), bias1({16}), weight2({8, 16}), bias2({8}), x({2, 16});
  test::GuardedTensor mounted({2, 8}), eager({2, 8});
  for (test::GuardedTensor* const tensor : {&weight1, &bias1, &weight2, &bias2, &x})
    for (std::uint16_t& bits : tensor->elements()) bits = 0x3E5A;
  const Nvfp4Weight weight = executor.quantise_weight(weight1.description);
  run_example(weight, bias1.description, weight2.description, bias2.description, x.description,
              mounted.description, executor);
  EXPECT_EQ(std::ranges::count(executor.take_steps(), "bias_gelu"), 1);

  Linear first(weight, HalfType::bf16, &bias1.description);
  Linear second(weight2.description, &bias2.description);
  Mlp("mlp", first, second).run(x.description, eager.description, Quality::lossless, executor);
  EXPECT_TRUE(std::ranges::equal(mounted.elements(), eager.elements()));
}

}  // namespace
}  // namespace bitproof::kernels
