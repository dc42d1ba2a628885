// An eager profile: whose eager bits are the truth. Frameworks change details of their kernels between
// versions; a profile names every such choice and the operators read it from there, so that a further profile
// is a further row of kProfiles.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bitproof::reference {

// Which FP32 tanh the tanh form of GELU is built on.
enum class Tanh {
  cuda_tanhf,   // tanhf of CUDA's math library: reference/tanhf.h
  tanh_approx,  // the instruction tanh.approx.f32: reference/sfu.h
};

// What happens to the FP32 sum of input and bias before GELU sees it.
enum class SumRounding {
  to_dtype,  // two eager kernels: the sum is stored as the dtype between them
  none,      // one kernel that keeps the sum in FP32
};

struct Profile {
  std::string_view name;
  // Bits of every NaN result, whatever NaN or invalid operation it came from.
  std::uint16_t nan_bits;
  // What gelu(-inf) gives, before the last rounding, where an implementation handles it apart, for example as
  // the limit, a zero. Nothing: the formula decides, and -inf * 0 is a NaN.
  std::optional<float> gelu_of_negative_infinity;
  SumRounding sum_rounding;
  Tanh tanh;
};

// PyTorch 2.11.0+cu130, eager on CUDA; recorded on an H200 in fixtures/oracles.
inline constexpr Profile kPytorch211Cuda{
    .name = "pytorch-2.11-cuda",
    .nan_bits = 0x7FFF,
    .gelu_of_negative_infinity = std::nullopt,
    .sum_rounding = SumRounding::to_dtype,
    .tanh = Tanh::cuda_tanhf,
};

// As above, but gelu(-inf) is its limit, -0 (x*0 for negative x). Not recorded from any release: it serves
// kernels that are written to return the limit.
inline constexpr Profile kPytorch211CudaLimit{
    .name = "pytorch-2.11-cuda+limit-at-negative-infinity",
    .nan_bits = 0x7FFF,
    .gelu_of_negative_infinity = -0.0f,
    .sum_rounding = SumRounding::to_dtype,
    .tanh = Tanh::cuda_tanhf,
};

inline constexpr std::array kProfiles{kPytorch211Cuda, kPytorch211CudaLimit};

constexpr std::span<const Profile> profiles() { return kProfiles; }

constexpr std::optional<Profile> find_profile(std::string_view name) {
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return profile;
  }
  return std::nullopt;
}

}  // namespace bitproof::reference
