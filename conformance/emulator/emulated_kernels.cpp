#include "conformance/emulator/emulated_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/launch.h"
#include "kernels/gelu_tanh_body.h"
#include "kernels/launch_rule.h"

namespace bitproof::conformance::emulator {
namespace {

constexpr std::int64_t kMaxGridY = 65535, kMaxBlocks = std::int64_t{1} << 30;
// Resident blocks of the baseline's persistent grid: any number is correct; this one makes the blocks of a
// 4096 x 4096 tensor stride.
constexpr std::int64_t kResidentBlocks = 528;

// How templates are mangled (Itanium C++ ABI): HalfType's enumerators and the bool of "with bias".
std::string_view mangled(reference::Dtype dtype) {
  return dtype == reference::Dtype::bf16 ? "HalfTypeE0E" : "HalfTypeE1E";
}
std::string_view mangled(bool has_bias) { return has_bias ? "ELb1E" : "ELb0E"; }

std::int64_t blocks_for(std::int64_t items, std::int64_t per_block) {
  return (items + per_block - 1) / per_block;
}

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

GlobalMemory memory_of(const Tensors& tensors, const kernels::RowwiseArguments& arguments) {
  const auto bytes = static_cast<std::uint64_t>(arguments.rows * arguments.width) * sizeof(std::uint16_t);
  const std::uint64_t input = address(arguments.input), output = address(arguments.output);
  const bool in_place = input == output;
  std::vector<MemoryRegion> regions;
  regions.push_back({in_place ? "input and output" : "input", input, input + bytes, true, in_place, true});
  if (!in_place) regions.push_back({"output", output, output + bytes, true, true, false});
  if (tensors.has_bias) {
    const std::uint64_t bias = address(arguments.bias);
    regions.push_back({"bias", bias, bias + static_cast<std::uint64_t>(arguments.width) * sizeof(std::uint16_t),
                       true, false, true});
  }
  return GlobalMemory(std::move(regions));
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Of gelu_tanh_eager_kernel(input, output, count).
struct LinearArguments {
  const std::uint16_t* input;
  std::uint16_t* output;
  std::int64_t count;
};

Geometry linear(std::int64_t blocks_x, std::int64_t blocks_y = 1) {
  return {{static_cast<std::uint32_t>(blocks_x), static_cast<std::uint32_t>(blocks_y), 1},
          {kernels::kLinearThreads, 1, 1}};
}

}  // namespace

struct EmulatedKernels::Decoded {
  KernelFamily family;
  kernels::ArchitectureTraits traits;
  Program kernel;
  std::optional<Program> add_bias;  // eager's first kernel

  int access_bytes() const {
    switch (family) {
      case KernelFamily::fused:
        return traits.vector_bytes;
      case KernelFamily::eager:
        return sizeof(std::uint16_t);
      case KernelFamily::baseline:
        return 16;
    }
    return 0;
  }

  void run(const kernels::RowwiseArguments& arguments, GlobalMemory& memory) const {
    const std::int64_t elements = arguments.rows * arguments.width;
    switch (family) {
      case KernelFamily::fused: {
        const kernels::LaunchGeometry of =
            kernels::launch_geometry(kernels::kFusedRule, traits.vector_bytes, arguments.rows,
                                     arguments.width * 2 / traits.vector_bytes);
        launch(kernel, {{of.grid_x, of.grid_y, 1}, {of.block_x, of.block_y, 1}}, bytes_of(arguments), memory);
        return;
      }
      case KernelFamily::baseline: {
        const std::int64_t blocks = blocks_for(elements * 2 / access_bytes(), kernels::kLinearThreads);
        launch(kernel, linear(std::min(blocks, kResidentBlocks)), bytes_of(arguments), memory);
        return;
      }
      case KernelFamily::eager: {
        constexpr std::int64_t kPerBlock =
            std::int64_t{kernels::kLinearThreads} * kernels::kEagerElementsPerThread;
        LinearArguments of_gelu{arguments.input, arguments.output, elements};
        if (add_bias) {
          launch(*add_bias,
                 linear(std::min(blocks_for(arguments.width, kPerBlock), kMaxBlocks),
                        std::min(arguments.rows, kMaxGridY)),
                 bytes_of(arguments), memory);
          of_gelu.input = arguments.output;
        }
        launch(kernel, linear(std::min(blocks_for(elements, kPerBlock), kMaxBlocks)), bytes_of(of_gelu),
               memory);
        return;
      }
    }
  }
};

std::string_view machine_code_of(KernelFamily family) {
  constexpr std::array<std::string_view, 3> kNames{"cuda.fused", "cuda.eager", "cuda.baseline"};
  return kNames[static_cast<std::size_t>(family)];
}

EmulatedKernels::EmulatedKernels(KernelFamily family, const Listing& listing, reference::Dtype dtype,
                                 bool has_bias) {
  const auto traits = kernels::find_architecture(listing.architecture);
  if (!traits)
    throw Unsupported(listing.architecture + " is no architecture that the kernels are compiled for");
  const auto kernel = [&](const std::vector<std::string_view>& parts) {
    return decode(find_section(listing, parts), listing.architecture);
  };
  std::optional<Program> add_bias;
  if (family == KernelFamily::eager && has_bias) add_bias = kernel({"add_bias_eager", mangled(dtype)});
  const auto main_kernel = [&] {
    switch (family) {
      case KernelFamily::fused:
        return kernel({"gelu_tanh_fused", mangled(dtype), mangled(has_bias)});
      case KernelFamily::eager:
        return kernel({"gelu_tanh_eager_kernel", mangled(dtype)});
      case KernelFamily::baseline:
        return kernel({"gelu_tanh_baseline", mangled(dtype), mangled(has_bias)});
    }
    throw Unsupported("no such family of kernels");
  };
  decoded_ = std::make_unique<const Decoded>(Decoded{family, *traits, main_kernel(), std::move(add_bias)});
}

EmulatedKernels::~EmulatedKernels() = default;

kernels::Applicability EmulatedKernels::can_use(const Tensors& tensors) const {
  return kernels::can_use_rowwise(tensors.input, tensors.has_bias ? &tensors.bias : nullptr, tensors.output,
                                  decoded_->access_bytes());
}

void EmulatedKernels::run(const Tensors& tensors) const {
  kernels::require(can_use(tensors));
  const kernels::RowwiseArguments arguments =
      kernels::rowwise_arguments(tensors.input, tensors.has_bias ? &tensors.bias : nullptr, tensors.output);
  GlobalMemory memory = memory_of(tensors, arguments);
  decoded_->run(arguments, memory);
}

}  // namespace bitproof::conformance::emulator
