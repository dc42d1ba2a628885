// A check of an MLP: one configuration in one place, over one domain.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "conformance/check.h"
#include "conformance/mlp/configuration.h"
#include "conformance/mlp/operands.h"
#include "conformance/mlp/place.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// small       every output of a small MLP against the reference's prediction
// production  Wan2.2's MLP, on a GPU: the outputs of a sample of rows against the prediction
// mounting    every output, mounted, beside and after, against those of the same MLP before mounting: a small
// one
//             on the CPU, Wan2.2's on a GPU
inline constexpr std::array<std::string_view, 3> kMlpDomains{"small", "production", "mounting"};

// Whose bits are right where no framework's are: NVFP4 as reference/nvfp4 has it, then the profile's eager
// bias, GELU and linear; and, of `mounting`, those of the same MLP unmounted.
inline constexpr std::string_view kNvfp4Profile = "nvfp4-1+pytorch-2.11-cuda";
inline constexpr std::string_view kUnmountedProfile = "unmounted-mlp";

struct MlpSubject {
  MlpConfiguration configuration = MlpConfiguration::lossless;
  reference::Dtype dtype = reference::Dtype::bf16;
  reference::Profile profile;
  MlpShape shape;
  std::uint64_t rows_tested = 0;   // spread evenly; all of them where it is the number of rows
  bool against_unmounted = false;  // domain `mounting`
  std::function<std::unique_ptr<MlpPlace>()> place;
  Record identity;  // with totals, device, architecture, key and library version filled in
};

// The states that are tested, a block each.
std::span<const MlpState> tested_states(const MlpSubject& subject);

std::unique_ptr<Check> make_mlp_check(const MlpSubject& subject);

}  // namespace bitproof::conformance
