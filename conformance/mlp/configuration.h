// The ways in which an MLP is checked: which site, which requests, and when.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace bitproof::conformance {

inline constexpr std::string_view kMlpGelu = "mlp_gelu";

enum class MlpConfiguration {
  lossless,           // a dense site, lossless requests
  high_epilogue,      // the same site, requests of high quality: the cuBLASLt epilogue
  high_nvfp4,         // an NVFP4 site, requests of both qualities: the bias deferred to the fused kernel
  high_nvfp4_native,  // the same on the native NVFP4 GEMM
};

struct MlpConfigurationName {
  MlpConfiguration configuration;
  std::string_view name;
};
inline constexpr std::array kMlpConfigurations{
    MlpConfigurationName{MlpConfiguration::lossless, "lossless"},
    MlpConfigurationName{MlpConfiguration::high_epilogue, "high_epilogue"},
    MlpConfigurationName{MlpConfiguration::high_nvfp4, "high_nvfp4"},
    MlpConfigurationName{MlpConfiguration::high_nvfp4_native, "high_nvfp4_native"},
};
constexpr std::string_view name(MlpConfiguration configuration) {
  return kMlpConfigurations[static_cast<std::size_t>(configuration)].name;
}

constexpr bool is_nvfp4(MlpConfiguration configuration) {
  return configuration == MlpConfiguration::high_nvfp4 || configuration == MlpConfiguration::high_nvfp4_native;
}

// A moment in the life of a site at which it runs.
enum class MlpState { before, first_sight, mounted, beside, after };

constexpr std::string_view name(MlpState state) {
  constexpr std::string_view kNames[] = {"lossless, before mounting", "high, mounted, verified at first sight",
                                         "high, mounted", "lossless, beside a high request that has mounted",
                                         "high, after unmounting"};
  return kNames[static_cast<std::size_t>(state)];
}

// The states in which a configuration is checked; block i of a domain is state i.
inline std::span<const MlpState> states_of(MlpConfiguration configuration) {
  using enum MlpState;
  static constexpr std::array kDense{before, beside, after};
  static constexpr std::array kEpilogue{mounted};
  static constexpr std::array kNvfp4{before, first_sight, mounted, beside, after};
  if (configuration == MlpConfiguration::lossless) return kDense;
  if (configuration == MlpConfiguration::high_epilogue) return kEpilogue;
  return kNvfp4;
}

}  // namespace bitproof::conformance
