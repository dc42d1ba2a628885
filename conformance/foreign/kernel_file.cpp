#include "conformance/foreign/kernel_file.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <elf.h>
#include <fmt/format.h>

#include "conformance/foreign/callback.h"
#include "conformance/foreign/nvrtc.h"
#include "conformance/report/sha256.h"
#include "conformance/report/text_file.h"

namespace bitproof::conformance {
namespace {

// What shared libraries export unless told otherwise.
constexpr std::string_view kDefaultEntry = "bitproof_kernel";

constexpr std::uint16_t kCudaMachine = 190;  // EM_CUDA

std::uint16_t halfword(const std::string& bytes, std::size_t offset) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[offset]) |
                                    static_cast<unsigned char>(bytes[offset + 1]) << 8);
}

std::optional<KernelFileKind> kind_of(const std::filesystem::path& path, const std::string& bytes) {
  if (bytes.starts_with(ELFMAG) && bytes.size() > sizeof(Elf64_Ehdr)) {
    const std::uint16_t type = halfword(bytes, offsetof(Elf64_Ehdr, e_type));
    if (halfword(bytes, offsetof(Elf64_Ehdr, e_machine)) == kCudaMachine) return KernelFileKind::cubin;
    return type == ET_DYN ? std::optional(KernelFileKind::shared_library) : std::nullopt;
  }
  if (bytes.find('\0') != std::string::npos && bytes.find('\0') + 1 != bytes.size()) return std::nullopt;
  if (path.extension() == ".cu") return KernelFileKind::cuda_source;
  const bool is_ptx = bytes.find(".version") != std::string::npos && bytes.find(".target") != std::string::npos;
  return is_ptx ? std::optional(KernelFileKind::ptx) : std::nullopt;
}

std::filesystem::path launch_file_of(const KernelFile& file, const KernelFileOptions& options) {
  if (!options.launch_file.empty()) return options.launch_file;
  std::filesystem::path beside = file.path;
  beside.replace_extension(".json");
  return std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}

ForeignKernel described(const KernelFile& file, const KernelFileOptions& options, Location location) {
  ForeignKernel kernel;
  kernel.name = file.path.filename().string();
  kernel.location = location;
  kernel.machine_code_key = sha256_hex(file.bytes);
  kernel.reproduce = [command = options.command](const std::string& domain, std::uint64_t block) {
    return fmt::format("{} --domain {} --block {}", command, domain, block);
  };
  return kernel;
}

// The first option that says something of kernels that a file of this kind does not hold; empty for none.
std::string_view useless_option(KernelFileKind kind, const KernelFileOptions& options) {
  if (!options.compiler_options.empty() && kind != KernelFileKind::cuda_source) return "--compiler-option";
  if (kind != KernelFileKind::shared_library) return "";
  const LaunchText& launch = options.launch;
  const std::pair<bool, std::string_view> given[] = {{!options.launch_file.empty(), "--launch"},
                                                     {launch.arguments.has_value(), "--arguments"},
                                                     {launch.threads.has_value(), "--threads"},
                                                     {launch.grid.has_value(), "--grid"},
                                                     {launch.shared_bytes.has_value(), "--shared-bytes"},
                                                     {launch.width_multiple.has_value(), "--width-multiple"},
                                                     {launch.alignment_bytes.has_value(), "--alignment-bytes"}};
  for (const auto& [is_given, name] : given)
    if (is_given) return name;
  return "";
}

Result<ForeignKernel> shared_library(const KernelFile& file, const KernelFileOptions& options,
                                     Location location) {
  ForeignKernel kernel = described(file, options, location);
  const auto callback = [path = file.path, entry = options.launch.entry.value_or(std::string(kDefaultEntry))] {
    return Callback{.kernel = load_shared_library(path, entry)};
  };
  if (options.request.elementwise) {
    kernel.load = [callback, name = kernel.name, location, request = options.request] {
      return callback_implementation(name, location, request, callback());
    };
  } else {
    kernel.load_linear = [callback, request = options.request] { return linear_callback(request, callback()); };
  }
  return kernel;
}

Result<ForeignKernel> device_kernel(const KernelFile& file, const KernelFileOptions& options,
                                    const CudaDevice& device) {
  LaunchText text = options.launch;
  if (const std::filesystem::path beside = launch_file_of(file, options); !beside.empty()) {
    Result<LaunchText> merged = with_launch_file(std::move(text), beside);
    if (!merged) return merged.error();
    text = *std::move(merged);
  }
  Result<LaunchDescription> launch = parse_launch(text, options.request.elementwise->has_bias, "--");
  if (!launch) return launch.error();

  ForeignKernel kernel = described(file, options, Location::device);
  auto image = std::make_shared<std::string>(file.bytes);
  if (file.kind == KernelFileKind::cuda_source) {
    Result<CompiledSource> compiled = compile_cuda_source_apart(
        file.path, launch->entry, device.facts.architecture, options.compiler_options);
    if (!compiled) return compiled.error();
    *image = std::move(compiled->cubin);
    launch->entry = std::move(compiled->entry);
    kernel.machine_code_key = sha256_hex(*image);
  }
  kernel.load = [image, launch = *launch, name = kernel.name, id = device.id] {
    return load_device_kernel(*image, launch, name, id);
  };
  return kernel;
}

}  // namespace

std::string_view name(KernelFileKind kind) {
  switch (kind) {
    case KernelFileKind::shared_library:
      return "shared library";
    case KernelFileKind::cuda_source:
      return "CUDA source";
    case KernelFileKind::ptx:
      return "PTX";
    case KernelFileKind::cubin:
      return "cubin";
  }
  return "";
}

Result<KernelFile> read_kernel_file(const std::filesystem::path& path) {
  Result<std::string> bytes = read_text_file(path, "name a file that you may read");
  if (!bytes) return bytes.error();
  const std::optional<KernelFileKind> kind = kind_of(path, *bytes);
  if (!kind)
    return Error{ErrorKind::malformed, "is no kernel", path.string(),
                 "give a shared library, a .cu source, PTX (with .version and .target) or a cubin"};
  return KernelFile{path, *kind, *std::move(bytes)};
}

Result<Done> require_sense(const KernelFile& file, const KernelFileOptions& options) {
  if (const std::string_view option = useless_option(file.kind, options); !option.empty())
    return Error{ErrorKind::bad_argument, fmt::format("has no meaning for a {}", name(file.kind)),
                 std::string(option), "leave it out"};
  if (!options.request.elementwise && file.kind != KernelFileKind::shared_library)
    return Error{
        ErrorKind::bad_argument,
        fmt::format("is a {}, and {} is checked as a shared library", name(file.kind), options.request.op),
        file.path.string(),
        "wrap the kernel in a bitproof_kernel (conformance/bitproof.h), or check it from Python"};
  return Done{};
}

Result<ForeignKernel> open_kernel_file(const KernelFile& file, const KernelFileOptions& options,
                                       const std::optional<CudaDevice>& device) {
  if (const Result<Done> sense = require_sense(file, options); !sense) return sense.error();
  if (file.kind == KernelFileKind::shared_library)
    return shared_library(file, options, device ? Location::device : Location::host);
  if (!device)
    return Error{ErrorKind::bad_argument, "runs on a GPU only", file.path.string(), "give --device cuda"};
  return device_kernel(file, options, *device);
}

}  // namespace bitproof::conformance
