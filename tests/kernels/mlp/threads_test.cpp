// One model, many threads: high and lossless batches overlap, and a gate is mounted and unmounted all the
// while. A run reads each switch once, so that its bits are those of one of the paths. Meant for
// ThreadSanitizer too.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/fusion/requests.h"
#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

using test::FirstLayer;
using test::TestMlp;

constexpr int kRounds = 200;

TEST(Threads, LosslessBitsNeverChangeWhileOthersMountAndUnmount) {
  Module root("model");
  TestMlp nvfp4(FirstLayer::nvfp4, "nvfp4", 1), dense(FirstLayer::dense, "dense", 2);
  root.add(nvfp4.mlp());
  root.add(dense.mlp());
  LinearGeluGate epilogue(HostExecutor::can_fuse_linear_gelu, test::drop);
  Nvfp4BiasGeluGate deferral(test::drop);
  epilogue.mark(dense.mlp());
  deferral.mark(nvfp4.mlp());
  FusionRequests requests(root, {&epilogue, &deferral});
  const auto sights = test::quiet_sights();
  std::atomic<int> wrong{0}, fused{0};

  const auto batches = [&](Quality quality) {
    HostExecutor executor(test::plain_gemm(), sights);
    for (int round = 0; round < kRounds; ++round) {
      const Request request = requests.begin(quality);
      const test::Bits of_dense = dense.run(quality, executor);
      const bool right =
          nvfp4.run(quality, executor) == nvfp4.eager() &&
          (of_dense == dense.eager() || (quality == Quality::high && of_dense == dense.epilogue()));
      wrong += right ? 0 : 1;
      fused += of_dense == dense.epilogue() ? 1 : 0;
    }
  };
  const auto mounting = [&] {
    for (int round = 0; round < kRounds; ++round) {
      (void)deferral.mount(nvfp4.mlp());
      (void)epilogue.mount(root);
      deferral.unmount(root);
      epilogue.unmount(dense.mlp());
    }
  };
  std::vector<std::thread> threads;
  for (const Quality quality : {Quality::high, Quality::lossless, Quality::high, Quality::lossless})
    threads.emplace_back(batches, quality);
  threads.emplace_back(mounting);
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, 0);
  EXPECT_GT(fused, 0) << "no run was fused, so nothing was tested";
  EXPECT_FALSE(epilogue.is_enabled(dense.mlp()));
  EXPECT_FALSE(deferral.is_enabled(nvfp4.mlp()));
  EXPECT_FALSE(nvfp4.first().skip_bias_add);
}

TEST(Threads, ASignatureIsVerifiedOnceSeenByManyThreads) {
  const auto sights = test::quiet_sights();
  TestMlp site(FirstLayer::nvfp4, "mlp", 1);
  Nvfp4BiasGeluGate gate(test::drop);
  gate.mark(site.mlp());
  ASSERT_TRUE(gate.mount(site.mlp()).mounted);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      test::RecordingExecutor executor(sights);
      for (int round = 0; round < 20; ++round)
        wrong += site.run(Quality::high, executor) == site.eager() ? 0 : 1;
      wrong += executor.take_steps().back() == "linear with bias" ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace bitproof::kernels
