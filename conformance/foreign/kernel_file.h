// A file that holds somebody else's kernel: what kind it is, and the kernel in it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/bitproof.h"
#include "conformance/foreign/foreign_check.h"
#include "conformance/foreign/launch_description.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

enum class KernelFileKind {
  shared_library,  // exports a bitproof_kernel (conformance/bitproof.h)
  cuda_source,     // .cu
  ptx,
  cubin,
};

std::string_view name(KernelFileKind kind);

struct KernelFile {
  std::filesystem::path path;
  KernelFileKind kind = KernelFileKind::shared_library;
  std::string bytes;
};

// Told by the content, a .cu file by its name. Errors: unreadable, and malformed for a file of no such kind.
Result<KernelFile> read_kernel_file(const std::filesystem::path& path);

// What a check is asked for besides the file.
struct KernelFileOptions {
  ForeignRequest request;
  LaunchText launch;
  std::filesystem::path launch_file;  // empty: FILE with .json in place of its extension, where there is one
  std::vector<std::string> compiler_options;  // of NVRTC
  std::string command;  // "./bitproof check ...", which reproduces it but for domain and block
};

// An error where what is asked for makes no sense for a file of this kind: options of another kind, an operator
// that it cannot hold.
Result<Done> require_sense(const KernelFile& file, const KernelFileOptions& options);

// A kernel that runs on the device, or on the CPU where there is none; a .cu file is compiled now. The file's
// code is loaded by ForeignKernel::load and not before, since loading may run it.
Result<ForeignKernel> open_kernel_file(const KernelFile& file, const KernelFileOptions& options,
                                       const std::optional<CudaDevice>& device);

// The entry point of a shared library. Throws std::runtime_error saying what is missing.
bitproof_kernel_function load_shared_library(const std::filesystem::path& path, const std::string& entry);

// A kernel out of PTX or machine code, on CUDA device `device_id`. Throws what keeps it from being launched as
// described: an image for another architecture, a missing entry, arguments that are not those of the kernel.
// Only in builds with CUDA.
ElementwiseImplementation load_device_kernel(const std::string& image, const LaunchDescription& launch,
                                             std::string name, int device_id);

}  // namespace bitproof::conformance
