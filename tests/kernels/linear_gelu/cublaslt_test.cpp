#include "kernels/linear_gelu/cublaslt.h"

#include <string>

#include <gtest/gtest.h>

#include "kernels/linear_gelu/linear_gelu.h"
#include "tests/kernels/linear_gelu/layer_fixture.h"

namespace bitproof::kernels::cuda {
namespace {

// Each of these runs on a machine with or without the library, and without a GPU.

TEST(CublasLt, SaysWhereItWasNotFoundAndWhatToDo) {
  const CublasLtLoad load = load_cublaslt("/nowhere/libcublasLt.so.13");
  EXPECT_FALSE(load.library);
  EXPECT_NE(load.reason.find("/nowhere/libcublasLt.so.13"), std::string::npos) << load.reason;
  EXPECT_NE(load.reason.find("BITPROOF_CUBLASLT"), std::string::npos) << load.reason;
}

TEST(CublasLt, RefusesALibraryThatIsNotCublasLt) {
  const CublasLtLoad load = load_cublaslt("libm.so.6");
  EXPECT_FALSE(load.library);
  EXPECT_EQ(load.reason.find("cuBLASLt cannot be used: libm.so.6 has no cublasLtCreate"), 0u) << load.reason;
}

TEST(CublasLt, IsEitherLoadedOrExplained) {
  EXPECT_EQ(cublaslt().library.has_value(), cublaslt().reason.empty());
}

TEST(LinearGeluTanh, RefusesWithTheGuardsReasonBeforeItTouchesAnything) {
  test::LayerFixture f;
  f.layer.bias_deferred = true;
  try {
    const LinearGeluTanh layer(LinearGeluPath::cublaslt, f.layer, *f.x, *f.output);
    FAIL() << "was not refused";
  } catch (const Refused& refused) {
    EXPECT_STREQ(refused.what(), "the bias is deferred (skip_bias_add): GELU would miss it");
  }
}

TEST(LinearGeluTanh, MayBeComputedWhereFusingWouldNotPayOff) {
  // Gathering and speed are the dispatcher's concern: the answer depends on the library alone.
  test::LayerFixture f;
  f.layer.output_gathered = true;
  EXPECT_EQ(can_use_linear_gelu_tanh(f.layer, *f.x, *f.output).reason, cublaslt().reason);
}

TEST(CublasLtAlgorithm, IsDescribedByAllItsAttributes) {
  const CublasLtAlgorithm algorithm{.id = 66,
                                    .tile = 393,
                                    .stages = 36,
                                    .splits = 1,
                                    .reduction_scheme = 0,
                                    .swizzle = 1,
                                    .custom_option = 2,
                                    .inner_shape = 3,
                                    .cluster_shape = 4,
                                    .workspace_bytes = 512};
  EXPECT_EQ(describe(algorithm),
            "id 66, tile 393, stages 36, splits 1, reduction 0, swizzle 1, custom 2, inner shape 3, cluster 4, "
            "workspace "
            "512 bytes");
}

}  // namespace
}  // namespace bitproof::kernels::cuda
