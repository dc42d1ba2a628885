// CUDA's run-time compiler, loaded when first needed: a .cu file becomes machine code of one architecture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/report/result.h"

namespace bitproof::conformance {

struct CompiledSource {
  std::string cubin;
  std::string entry;  // the symbol of the entry that was asked for; empty when none was
};

// Compiles for `architecture` ("sm_90") as C++17 with `options` behind ours. `entry` is a kernel as C++ names
// it, "gelu<8>", or empty. Errors: no libnvrtc here (unreadable); what the compiler says (malformed).
Result<CompiledSource> compile_cuda_source(const std::filesystem::path& file, const std::string& entry,
                                           const std::string& architecture,
                                           const std::vector<std::string>& options);

// The same in a process of its own: NVRTC leaves this one's CUDA in a state that a fork does not survive, and
// workers are forks.
Result<CompiledSource> compile_cuda_source_apart(const std::filesystem::path& file, const std::string& entry,
                                                 const std::string& architecture,
                                                 const std::vector<std::string>& options);

}  // namespace bitproof::conformance
