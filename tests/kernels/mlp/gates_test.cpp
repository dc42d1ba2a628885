// Marking, mounting, unmounting; the reasons; the life of a request.
#include "kernels/fusion/gates.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/fusion/requests.h"
#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

using test::FirstLayer;
using test::TestMlp;

// A site whose first linear layer was taken away.
class Bare final : public FusionSite {
 public:
  using FusionSite::FusionSite;
  Linear* first_linear() const override { return nullptr; }
};

// model -> block -> nvfp4, plain; model -> bare.
struct Model {
  Module root{"model"}, block{"block"};
  TestMlp nvfp4{FirstLayer::nvfp4, "nvfp4", 1}, plain{FirstLayer::dense, "plain", 2};
  Bare bare{"bare"};
  std::vector<std::string> log;
  Log keep = [this](const std::string& line) { log.push_back(line); };
  LinearGeluGate epilogue{HostExecutor::can_fuse_linear_gelu, keep};
  Nvfp4BiasGeluGate deferral{keep};

  Model() {
    root.add(block);
    block.add(nvfp4.mlp());
    block.add(plain.mlp());
    root.add(bare);
  }
};

TEST(QualityGate, SitesAreTheMarkedOnesDepthFirst) {
  Model model;
  EXPECT_TRUE(model.epilogue.sites(model.root).empty());
  model.epilogue.mark(model.bare);
  model.epilogue.mark(model.plain.mlp());
  EXPECT_EQ(model.epilogue.sites(model.root), (std::vector<FusionSite*>{&model.plain.mlp(), &model.bare}));
  EXPECT_EQ(model.epilogue.sites(model.block), (std::vector<FusionSite*>{&model.plain.mlp()}));
  EXPECT_EQ(model.epilogue.sites(model.bare), (std::vector<FusionSite*>{&model.bare}))
      << "the root may be a site";
  EXPECT_TRUE(model.deferral.sites(model.root).empty()) << "each gate has marks of its own";
}

TEST(QualityGate, ARootWithoutSitesIsNotMounted) {
  Model model;
  const MountResult result = model.deferral.mount(model.root);
  EXPECT_FALSE(result.mounted);
  EXPECT_TRUE(result.refusals.empty());
}

TEST(QualityGate, MountsAllOrNothingAndTellsAllReasonsOnce) {
  Model model;
  model.deferral.mark(model.nvfp4.mlp());
  model.deferral.mark(model.plain.mlp());
  model.deferral.mark(model.bare);
  const MountResult result = model.deferral.mount(model.root);
  EXPECT_FALSE(result.mounted);
  EXPECT_EQ(result.refusals, (std::vector<SiteRefusal>{
                                 {"model.block.plain", "the first linear layer is not NVFP4"},
                                 {"model.bare", "the site has no first linear layer"},
                             }));
  EXPECT_FALSE(model.deferral.is_enabled(model.nvfp4.mlp()));
  EXPECT_FALSE(model.nvfp4.first().skip_bias_add);
  EXPECT_EQ(model.deferral.mount(model.root).refusals, result.refusals);
  EXPECT_EQ(model.log, (std::vector<std::string>{
                           "model.block.plain is not mounted: the first linear layer is not NVFP4",
                           "model.bare is not mounted: the site has no first linear layer",
                       }));
}

TEST(QualityGate, ARefusalUnmountsWhatAPartOfTheTreeHadMounted) {
  Model model;
  model.deferral.mark(model.nvfp4.mlp());
  model.deferral.mark(model.bare);
  ASSERT_TRUE(model.deferral.mount(model.block).mounted);
  EXPECT_TRUE(model.nvfp4.first().skip_bias_add);
  EXPECT_FALSE(model.deferral.mount(model.root).mounted);
  EXPECT_FALSE(model.deferral.is_enabled(model.nvfp4.mlp()));
  EXPECT_FALSE(model.nvfp4.first().skip_bias_add);
}

TEST(QualityGate, MountingAndUnmountingTwiceIsHarmlessAndRestoresTheFlag) {
  for (const bool before : {false, true}) {
    Model model;
    model.nvfp4.first().skip_bias_add = before;
    model.deferral.mark(model.nvfp4.mlp());
    model.deferral.unmount(model.root);  // never mounted
    EXPECT_EQ(model.nvfp4.first().skip_bias_add, before);
    EXPECT_TRUE(model.deferral.mount(model.root).mounted);
    EXPECT_TRUE(model.deferral.mount(model.root).mounted);
    EXPECT_TRUE(model.nvfp4.first().skip_bias_add);
    model.deferral.unmount(model.root);
    EXPECT_EQ(model.nvfp4.first().skip_bias_add, before);
    model.deferral.unmount(model.root);
    EXPECT_EQ(model.nvfp4.first().skip_bias_add, before);
  }
}

TEST(Nvfp4BiasGeluGate, HasAReasonForEveryRefusal) {
  Model model;
  TestMlp without_bias(FirstLayer::nvfp4_without_bias, "mlp", 3);
  EXPECT_EQ(model.deferral.can_mount(model.nvfp4.mlp()).reason, "the site is not marked as a target");
  model.deferral.mark(model.nvfp4.mlp());
  model.deferral.mark(model.bare);
  model.deferral.mark(model.plain.mlp());
  model.deferral.mark(without_bias.mlp());
  EXPECT_EQ(model.deferral.can_mount(model.nvfp4.mlp()).reason, "");
  EXPECT_EQ(model.deferral.can_mount(model.bare).reason, "the site has no first linear layer");
  EXPECT_EQ(model.deferral.can_mount(model.plain.mlp()).reason, "the first linear layer is not NVFP4");
  EXPECT_EQ(model.deferral.can_mount(without_bias.mlp()).reason, "the first linear layer has no bias");
}

TEST(LinearGeluGate, HasAReasonForEveryRefusal) {
  Model model;
  TestMlp without_bias(FirstLayer::dense_without_bias, "mlp", 3);
  EXPECT_EQ(model.epilogue.can_mount(model.plain.mlp()).reason, "the site is not marked as a target");
  for (FusionSite* const site : std::initializer_list<FusionSite*>{&model.nvfp4.mlp(), &model.bare,
                                                                   &model.plain.mlp(), &without_bias.mlp()})
    model.epilogue.mark(*site);
  EXPECT_EQ(model.epilogue.can_mount(model.plain.mlp()).reason, "");
  EXPECT_EQ(model.epilogue.can_mount(model.nvfp4.mlp()).reason, "the weight is quantised");
  EXPECT_EQ(model.epilogue.can_mount(model.bare).reason, "the site has no first linear layer");
  EXPECT_EQ(model.epilogue.can_mount(without_bias.mlp()).reason, "the layer has no bias");
  model.plain.first().skip_bias_add = true;
  EXPECT_EQ(model.epilogue.can_mount(model.plain.mlp()).reason,
            "the bias is deferred (skip_bias_add): GELU would miss it");
}

TEST(Gates, ExcludeEachOtherInBothMountingOrders) {
  for (const bool epilogue_first : {true, false}) {
    Model model;
    for (TestMlp* const site : {&model.nvfp4, &model.plain}) {
      model.epilogue.mark(site->mlp());
      model.deferral.mark(site->mlp());
      QualityGate& first = epilogue_first ? static_cast<QualityGate&>(model.epilogue) : model.deferral;
      QualityGate& second = epilogue_first ? static_cast<QualityGate&>(model.deferral) : model.epilogue;
      const bool nvfp4 = site == &model.nvfp4;
      EXPECT_EQ(first.mount(site->mlp()).mounted, nvfp4 != epilogue_first);
      EXPECT_EQ(second.mount(site->mlp()).mounted, nvfp4 == epilogue_first);
      EXPECT_EQ(model.epilogue.is_enabled(site->mlp()), !nvfp4);
      EXPECT_EQ(model.deferral.is_enabled(site->mlp()), nvfp4);
    }
  }
}

// --- Requests
// ----------------------------------------------------------------------------------------------------

// Both sites marked for the gate that serves them.
struct Served : Model {
  FusionRequests requests{root, {&epilogue, &deferral}};

  Served() {
    epilogue.mark(plain.mlp());
    deferral.mark(nvfp4.mlp());
  }
  bool both_mounted() const { return epilogue.is_enabled(plain_site()) && deferral.is_enabled(nvfp4_site()); }
  bool none_mounted() const { return !epilogue.is_enabled(plain_site()) && !deferral.is_enabled(nvfp4_site()); }

 private:
  const FusionSite& plain_site() const { return const_cast<Served*>(this)->plain.mlp(); }
  const FusionSite& nvfp4_site() const { return const_cast<Served*>(this)->nvfp4.mlp(); }
};

TEST(Requests, HighMountsAtItsStartAndUnmountsAtItsEnd) {
  Served model;
  {
    const Request request = model.requests.begin(Quality::high);
    EXPECT_EQ(request.quality(), Quality::high);
    ASSERT_EQ(request.mounts().size(), 2u);
    EXPECT_TRUE(request.mounts()[0].mounted && request.mounts()[1].mounted);
    EXPECT_TRUE(model.both_mounted());
  }
  EXPECT_TRUE(model.none_mounted());
  EXPECT_FALSE(model.nvfp4.first().skip_bias_add);
}

TEST(Requests, LosslessIsTheDefaultAndMountsNothing) {
  Served model;
  const Request request = model.requests.begin();
  EXPECT_EQ(request.quality(), Quality::lossless);
  EXPECT_TRUE(request.mounts().empty());
  EXPECT_TRUE(model.none_mounted());
}

TEST(Requests, AnExceptionUnmounts) {
  Served model;
  EXPECT_THROW(
      {
        const Request request = model.requests.begin(Quality::high);
        EXPECT_TRUE(model.both_mounted());
        throw std::runtime_error("in the middle of a batch");
      },
      std::runtime_error);
  EXPECT_TRUE(model.none_mounted());
  EXPECT_FALSE(model.nvfp4.first().skip_bias_add);
}

TEST(Requests, OfBatchesThatOverlapTheLastUnmounts) {
  Served model;
  {
    const Request first = model.requests.begin(Quality::high);
    {
      const Request second = model.requests.begin(Quality::high);
      const Request lossless = model.requests.begin();
      EXPECT_TRUE(second.mounts().empty());
    }
    EXPECT_TRUE(model.both_mounted());
  }
  EXPECT_TRUE(model.none_mounted());
}

// Throws when it is asked whether it can serve.
class Throwing final : public QualityGate {
 public:
  Throwing() : QualityGate(Fusion::nvfp4_bias_gelu, test::drop) {}

 private:
  Applicability can_serve(const FusionSite&) const override { throw std::runtime_error("a broken gate"); }
};

TEST(Requests, AGateThatThrowsLeavesNothingMounted) {
  Served model;
  Throwing throwing;
  FusionRequests requests(model.root, {&model.epilogue, &throwing});
  EXPECT_THROW((void)requests.begin(Quality::high), std::runtime_error);
  EXPECT_TRUE(model.none_mounted());
  const Request request = model.requests.begin(Quality::high);
  EXPECT_TRUE(model.both_mounted()) << "and the lock is free";
}

}  // namespace
}  // namespace bitproof::kernels
