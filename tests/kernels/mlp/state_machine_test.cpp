// Any sequence of mark, mount, unmount, request and exception on any tree of sites, against a model of a few
// lines. After every step: mounting is all or nothing, flags are what they should be, lossless bits are those
// of eager, and high bits those of the path that is mounted, so that no bias is lost or added twice.
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>

#include "kernels/fusion/requests.h"
#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

using test::FirstLayer;
using test::TestMlp;

constexpr std::array kKinds{FirstLayer::dense, FirstLayer::dense_without_bias, FirstLayer::nvfp4,
                            FirstLayer::nvfp4_without_bias};
constexpr std::array kFusionsByIndex{Fusion::linear_gelu, Fusion::nvfp4_bias_gelu};

// --- The model: what should hold
// ---------------------------------------------------------------------------------

struct Node {
  int parent = -1;  // of a lower number; the root has none
  bool is_site = false;
  FirstLayer kind = FirstLayer::dense;
  bool skip = false;  // the flag of the first layer
  std::array<bool, kFusions> marked{}, mounted{};
  bool skip_before = false;
};

using Tree = std::vector<Node>;

bool is_below(const Tree& tree, int node, int root) {
  while (node != root && node >= 0) node = tree[static_cast<std::size_t>(node)].parent;
  return node == root;
}

std::vector<int> targets(const Tree& tree, int root, std::size_t fusion) {
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(tree.size()); ++i)
    if (tree[static_cast<std::size_t>(i)].marked[fusion] && is_below(tree, i, root)) result.push_back(i);
  return result;
}

bool can_serve(const Node& node, std::size_t fusion) {
  if (!has_bias(node.kind)) return false;
  return kFusionsByIndex[fusion] == Fusion::nvfp4_bias_gelu ? is_nvfp4(node.kind)
                                                            : !is_nvfp4(node.kind) && !node.skip;
}

void unmount(Tree& tree, int root, std::size_t fusion) {
  for (const int i : targets(tree, root, fusion)) {
    Node& node = tree[static_cast<std::size_t>(i)];
    if (!node.mounted[fusion]) continue;
    node.mounted[fusion] = false;
    if (kFusionsByIndex[fusion] == Fusion::nvfp4_bias_gelu) node.skip = node.skip_before;
  }
}

// How many sites refuse.
std::size_t mount(Tree& tree, int root, std::size_t fusion) {
  const std::vector<int> all = targets(tree, root, fusion);
  const auto refused = static_cast<std::size_t>(
      std::ranges::count_if(all, [&](int i) { return !can_serve(tree[static_cast<std::size_t>(i)], fusion); }));
  if (refused > 0) {
    unmount(tree, root, fusion);
    return refused;
  }
  for (const int i : all) {
    Node& node = tree[static_cast<std::size_t>(i)];
    if (node.mounted[fusion]) continue;
    node.mounted[fusion] = true;
    if (kFusionsByIndex[fusion] == Fusion::nvfp4_bias_gelu) {
      node.skip_before = node.skip;
      node.skip = true;
    }
  }
  return 0;
}

// --- The system under test
// ---------------------------------------------------------------------------------------

struct System {
  explicit System(const Tree& tree) {
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Node& node = tree[i];
      sites.push_back(node.is_site ? std::make_unique<TestMlp>(node.kind, std::to_string(i), i) : nullptr);
      groups.push_back(node.is_site ? nullptr : std::make_unique<Module>(std::to_string(i)));
      if (node.is_site) sites[i]->first().skip_bias_add = node.skip;
      for (std::size_t fusion = 0; fusion < kFusions; ++fusion)
        if (node.marked[fusion]) gate(fusion).mark(sites[i]->mlp());
      if (node.parent >= 0) module(node.parent).add(module(static_cast<int>(i)));
    }
    requests = std::make_unique<FusionRequests>(module(0), std::vector<QualityGate*>{&epilogue, &deferral});
  }

  Module& module(int i) {
    const auto index = static_cast<std::size_t>(i);
    return sites[index] ? static_cast<Module&>(sites[index]->mlp()) : *groups[index];
  }
  QualityGate& gate(std::size_t fusion) { return fusion == 0 ? static_cast<QualityGate&>(epilogue) : deferral; }

  void check(const Tree& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].is_site) continue;
      TestMlp& site = *sites[i];
      for (std::size_t fusion = 0; fusion < kFusions; ++fusion)
        RC_ASSERT(gate(fusion).is_enabled(site.mlp()) == expected[i].mounted[fusion]);
      RC_ASSERT(site.first().skip_bias_add == expected[i].skip);
      // Eager's bits with the flag as it is: a dense layer that defers its bias rounds twice, with or without
      // gates.
      const bool deferred = expected[i].skip && !is_nvfp4(site.kind());
      RC_ASSERT(site.run(Quality::lossless, executor) == site.eager(deferred));
      RC_ASSERT(site.run(Quality::high, executor) ==
                (expected[i].mounted[0] ? site.epilogue() : site.eager(deferred)));
    }
  }

  std::vector<std::unique_ptr<TestMlp>> sites;
  std::vector<std::unique_ptr<Module>> groups;
  LinearGeluGate epilogue{HostExecutor::can_fuse_linear_gelu, test::drop};
  Nvfp4BiasGeluGate deferral{test::drop};
  std::unique_ptr<FusionRequests> requests;
  HostExecutor executor{test::plain_gemm(), test::quiet_sights()};
};

// --- The steps
// ---------------------------------------------------------------------------------------------------

using Command = rc::state::Command<Tree, System>;

// A step on a node and one of the gates.
struct OnNode : Command {
  explicit OnNode(const Tree& tree)
      : node(*rc::gen::inRange(0, static_cast<int>(tree.size()))),
        fusion(*rc::gen::inRange<std::size_t>(0, kFusions)) {}
  Tree after(const Tree& before) const {
    Tree tree = before;
    apply(tree);
    return tree;
  }
  int node;
  std::size_t fusion;
};

struct Mark final : OnNode {
  using OnNode::OnNode;
  void checkPreconditions(const Tree& tree) const override {
    RC_PRE(tree[static_cast<std::size_t>(node)].is_site);
  }
  void apply(Tree& tree) const override { tree[static_cast<std::size_t>(node)].marked[fusion] = true; }
  void run(const Tree& before, System& system) const override {
    system.gate(fusion).mark(system.sites[static_cast<std::size_t>(node)]->mlp());
    system.check(after(before));
  }
  void show(std::ostream& stream) const override { stream << "mark " << node << " for " << fusion; }
};

struct Mount final : OnNode {
  using OnNode::OnNode;
  void apply(Tree& tree) const override { mount(tree, node, fusion); }
  void run(const Tree& before, System& system) const override {
    Tree tree = before;
    const bool has_target = !targets(tree, node, fusion).empty();
    const std::size_t refused = mount(tree, node, fusion);
    const MountResult result = system.gate(fusion).mount(system.module(node));
    RC_ASSERT(result.refusals.size() == refused);
    RC_ASSERT(result.mounted == (has_target && refused == 0));
    system.check(tree);
  }
  void show(std::ostream& stream) const override { stream << "mount " << node << " by " << fusion; }
};

struct Unmount final : OnNode {
  using OnNode::OnNode;
  void apply(Tree& tree) const override { unmount(tree, node, fusion); }
  void run(const Tree& before, System& system) const override {
    system.gate(fusion).unmount(system.module(node));
    system.check(after(before));
  }
  void show(std::ostream& stream) const override { stream << "unmount " << node << " by " << fusion; }
};

// A batch over the whole model; it may end by an exception.
struct Batch final : Command {
  explicit Batch(const Tree&) : high(*rc::gen::arbitrary<bool>()), throws(*rc::gen::arbitrary<bool>()) {}
  void apply(Tree& tree) const override {
    if (!high) return;
    for (std::size_t fusion = 0; fusion < kFusions; ++fusion) unmount(tree, 0, fusion);
  }
  void run(const Tree& before, System& system) const override {
    Tree during = before;
    if (high)
      for (std::size_t fusion = 0; fusion < kFusions; ++fusion) mount(during, 0, fusion);
    struct Interruption {};
    try {
      const Request request = system.requests->begin(high ? Quality::high : Quality::lossless);
      system.check(during);
      if (throws) throw Interruption{};
    } catch (const Interruption&) {
    }
    Tree tree = during;
    apply(tree);
    system.check(tree);
  }
  void show(std::ostream& stream) const override {
    stream << (high ? "high" : "lossless") << " batch" << (throws ? " that throws" : "");
  }
  bool high, throws;
};

Tree any_tree() {
  const int nodes = *rc::gen::inRange(1, 7);
  Tree tree;
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.parent = i == 0 ? -1 : *rc::gen::inRange(0, i);
    node.is_site = *rc::gen::inRange(0, 4) > 0;
    node.kind = *rc::gen::elementOf(kKinds);
    node.skip = *rc::gen::inRange(0, 4) == 0;
    // Mostly targets of the gate that serves them, so that mounting often succeeds.
    for (std::size_t fusion = 0; fusion < kFusions; ++fusion)
      node.marked[fusion] = node.is_site && (can_serve(node, fusion) ? *rc::gen::inRange(0, 4) > 0
                                                                     : *rc::gen::inRange(0, 12) == 0);
    tree.push_back(node);
  }
  return tree;
}

RC_GTEST_PROP(FusionSites, KeepTheirInvariantsUnderAnySequenceOfStepsOnAnyTree, ()) {
  for (int i = 0; i < 3; ++i) {  // a case is short; RapidCheck has a hundred
    const Tree tree = any_tree();
    System system(tree);
    rc::state::check(tree, system, rc::state::gen::execOneOfWithArgs<Mark, Mount, Mount, Unmount, Batch>());
  }
}

}  // namespace
}  // namespace bitproof::kernels
