// Kernels out of PTX and cubins, through the runtime's library management (CUDA Runtime API, "Library
// Management"), which is the driver's cuLibrary* and cuKernel*.
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "conformance/foreign/kernel_file.h"
#include "kernels/cuda/device.h"
#include "kernels/tensor.h"

namespace bitproof::conformance {
namespace {

using kernels::cuda::check;

constexpr std::size_t kLogBytes = 8192;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

cudaLibrary_t load_image(const std::string& image) {
  std::array<char, kLogBytes> log{};
  std::array<cudaJitOption, 2> options{cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  cudaLibrary_t library = nullptr;
  const cudaError_t loaded = cudaLibraryLoadData(&library, image.c_str(), options.data(), values.data(),
                                                 options.size(), nullptr, nullptr, 0);
  if (loaded == cudaSuccess) return library;
  log.back() = '\0';
  fail(fmt::format("the module cannot be loaded on this card: {}{}{}", cudaGetErrorString(loaded),
                   log[0] == '\0' ? "" : ": ", log.data()));
}

std::string name_of(cudaKernel_t kernel) {
  const char* name = nullptr;
  check(cudaFuncGetName(&name, kernel), "cudaFuncGetName");
  return name;
}

cudaKernel_t find_kernel(cudaLibrary_t library, const std::string& entry) {
  unsigned count = 0;
  check(cudaLibraryGetKernelCount(&count, library), "cudaLibraryGetKernelCount");
  if (count == 0)
    fail(
        "the module has no kernel that this card can run; a cubin is for the architecture that it was compiled "
        "for, and of a template only the instance is there that --entry names");
  std::vector<cudaKernel_t> kernels(count);
  check(cudaLibraryEnumerateKernels(kernels.data(), count, library), "cudaLibraryEnumerateKernels");
  if (entry.empty() && count == 1) return kernels.front();
  std::vector<std::string> names;
  for (const cudaKernel_t kernel : kernels) {
    names.push_back(name_of(kernel));
    if (names.back() == entry) return kernel;
  }
  if (entry.empty())
    fail(fmt::format("the module has {} kernels; choose one with --entry: {}", count, fmt::join(names, ", ")));
  fail(fmt::format("the module has no kernel {}; it has {}", entry, fmt::join(names, ", ")));
}

struct Parameter {
  std::size_t offset = 0, bytes = 0;
};

std::vector<Parameter> parameters_of(cudaKernel_t kernel) {
  std::vector<Parameter> parameters;
  while (true) {
    Parameter next;
    const cudaError_t asked = cudaFuncGetParamInfo(kernel, parameters.size(), &next.offset, &next.bytes);
    if (asked == cudaErrorInvalidValue) break;  // one too many, which is how their number is found
    check(asked, "cudaFuncGetParamInfo");
    parameters.push_back(next);
  }
  (void)cudaGetLastError();
  return parameters;
}

bool is_address(LaunchArgument argument) {
  return argument == LaunchArgument::input || argument == LaunchArgument::bias ||
         argument == LaunchArgument::output;
}

// The arguments' sizes must be the parameters'; what is named wrongly with the right size, no one can see.
void require_arguments(const LaunchDescription& launch, const std::vector<Parameter>& parameters) {
  std::vector<std::string_view> names;
  for (const LaunchArgument argument : launch.arguments) names.push_back(name(argument));
  if (parameters.size() != launch.arguments.size())
    fail(fmt::format("the kernel has {} parameters, and --arguments gives it {} ({})", parameters.size(),
                     names.size(), fmt::join(names, ", ")));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t bytes = parameters[i].bytes;
    if (bytes == 8 || (bytes == 4 && !is_address(launch.arguments[i]))) continue;
    fail(fmt::format("parameter {} of the kernel has {} bytes, and {} needs {}", i + 1, bytes, names[i],
                     is_address(launch.arguments[i]) ? "8" : "4 or 8"));
  }
}

std::uint64_t value_of(LaunchArgument argument, const Tensors& tensors) {
  const auto rows = static_cast<std::uint64_t>(tensors.input.shape[0]);
  const auto width = static_cast<std::uint64_t>(tensors.input.shape[1]);
  const auto address = [](const DLTensor& tensor) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(kernels::data_of(tensor)));
  };
  switch (argument) {
    case LaunchArgument::input:
      return address(tensors.input);
    case LaunchArgument::bias:
      return address(tensors.bias);
    case LaunchArgument::output:
      return address(tensors.output);
    case LaunchArgument::rows:
      return rows;
    case LaunchArgument::width:
      return width;
    case LaunchArgument::elements:
      return rows * width;
    case LaunchArgument::input_stride:
      return static_cast<std::uint64_t>(kernels::row_stride(tensors.input));
    case LaunchArgument::output_stride:
      return static_cast<std::uint64_t>(kernels::row_stride(tensors.output));
  }
  return 0;
}

struct LoadedKernel {
  cudaKernel_t kernel;
  LaunchDescription launch;
  std::vector<Parameter> parameters;

  // An integer that a parameter of 32 bits cannot hold is none that the kernel can be given.
  kernels::Applicability can_use(const Tensors& tensors) const {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (const std::uint64_t value = value_of(launch.arguments[i], tensors);
          parameters[i].bytes == 4 && value > 0x7FFFFFFF)
        return {fmt::format("{} is {}, and the kernel takes it in 32 bits", name(launch.arguments[i]), value)};
    return can_launch(launch, tensors);
  }

  void run(const Tensors& tensors, cudaStream_t stream) const {
    kernels::require(can_use(tensors));
    std::vector<std::uint64_t> values;  // little endian: the lower half comes first
    for (const LaunchArgument argument : launch.arguments) values.push_back(value_of(argument, tensors));
    std::vector<void*> arguments;
    for (std::uint64_t& value : values) arguments.push_back(&value);

    const auto rows = static_cast<std::uint64_t>(tensors.input.shape[0]);
    const auto width = static_cast<std::uint64_t>(tensors.input.shape[1]);
    const auto extent = [&](std::size_t axis) {
      return static_cast<unsigned>(launch.grid[axis].of(rows, width));
    };
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(extent(0), extent(1), extent(2));
    config.blockDim = dim3(launch.threads[0], launch.threads[1], launch.threads[2]);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream;
    check(cudaLaunchKernelExC(&config, kernel, arguments.data()), "launch of the kernel");
  }
};

}  // namespace

ElementwiseImplementation load_device_kernel(const std::string& image, const LaunchDescription& launch,
                                             std::string name, int device_id) {
  check(cudaSetDevice(device_id), "cudaSetDevice");
  const cudaKernel_t kernel = find_kernel(load_image(image), launch.entry);
  const auto loaded = std::make_shared<const LoadedKernel>(LoadedKernel{kernel, launch, parameters_of(kernel)});
  require_arguments(launch, loaded->parameters);
  if (launch.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(launch.shared_bytes)),
          "cudaFuncSetAttribute");
  return {.name = std::move(name),
          .location = Location::device,
          .vector_elements = static_cast<std::uint32_t>(launch.width_multiple),
          .can_use = [loaded](const Tensors& tensors) { return loaded->can_use(tensors); },
          .run = [loaded](const Tensors& tensors, CUstream_st* stream) { loaded->run(tensors, stream); },
          .concurrent = false};
}

}  // namespace bitproof::conformance
