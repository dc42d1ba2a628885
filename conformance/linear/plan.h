// All checks of linear + GELU that this build knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/report/record.h"
#include "reference/profile.h"

namespace bitproof::conformance {

inline constexpr std::string_view kLinearGeluTanh = "linear_gelu_tanh";

// Every dtype, domain and implementation:
//
//   host.eager     bitwise, eager profile: binary64 sums and the production GELU compiled for the CPU
//   cuda.eager     bitwise, eager profile: GEMM with bias epilogue, then the production GELU kernel
//   cuda.cublaslt  bitwise against what the GELU_BIAS epilogue is predicted to give, profile
//                  cublaslt-13-gelu-epilogue; and, over values, random and production, against the eager
//                  profile, from which it differs in a known way (fixtures/expectations)
std::vector<PlannedCheck> plan_linear(const reference::Profile& profile, std::uint64_t seed,
                                      const std::vector<CudaDevice>& devices);

// The digest that the reference gives for the whole of a domain, for those that are the same wherever they run.
std::optional<std::uint64_t> expected_digest_of_linear(std::string_view dtype, std::string_view profile,
                                                       std::string_view domain, std::uint64_t seed);

// What would run for an implementation of linear_gelu_tanh: a hash over the version of cuBLASLt, whose kernels
// are not ours to hash, over the rule by which its algorithm is asked for, and over the keys of our own code in
// that path. Nothing where this build lacks a part. The version is that of the record: a tree has no library.
std::optional<std::string> linear_machine_code_key(std::string_view implementation,
                                                   std::string_view architecture,
                                                   std::string_view library_version);

}  // namespace bitproof::conformance
