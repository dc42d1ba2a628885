// Calls of linear + GELU on a GPU as the harness launches them: cuda.eager, cuda.cublaslt, and anybody's.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "conformance/linear/call.h"
#include "conformance/linear/device.h"
#include "conformance/linear/device_layer.h"
#include "conformance/poison.h"
#include "kernels/cuda/device.h"
#include "kernels/linear_gelu/cublaslt.h"
#include "kernels/linear_gelu/linear_gelu.h"

namespace bitproof::conformance {
namespace {

using kernels::cuda::check;
using reference::Half;

std::uint64_t count_poison(std::span<const std::uint16_t> elements) {
  constexpr std::size_t kGrain = 1u << 18;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, elements.size(), kGrain), std::uint64_t{0},
      [elements](const tbb::blocked_range<std::size_t>& part, std::uint64_t sum) {
        for (std::size_t i = part.begin(); i < part.end(); ++i) sum += elements[i] == kPoison;
        return sum;
      },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

LibraryAlgorithm algorithm_of(const kernels::cuda::LinearGeluTanh& prepared) {
  const kernels::cuda::CublasLtAlgorithm& chosen = prepared.algorithm();
  return {.description = describe(chosen),
          .splits = static_cast<std::uint64_t>(std::max(chosen.splits, 0)),
          .workspace_bytes = chosen.workspace_bytes,
          .shapes = {}};
}

// One of our paths. The library may have no algorithm for tensors that the predicate accepts; what the
// predicate refuses must be refused for its reason.
std::optional<LibraryAlgorithm> call_path(kernels::LinearGeluPath path, const LinearTensors& tensors,
                                          cudaStream_t stream) {
  const kernels::LinearLayer layer{.weight = &tensors.weight, .bias = &tensors.bias};
  const kernels::Applicability answer =
      kernels::cuda::can_use_linear_gelu_tanh(layer, tensors.x, tensors.output);
  try {
    const kernels::cuda::LinearGeluTanh run(path, layer, tensors.x, tensors.output);
    run(layer, tensors.x, tensors.output, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // `run` owns the workspace
    if (!answer) throw std::logic_error("the predicate refuses (" + answer.reason + ") but the call ran");
    return algorithm_of(run);
  } catch (const kernels::Refused& refusal) {
    if (!answer && answer.reason != refusal.what())
      throw std::logic_error("the call refuses with \"" + std::string(refusal.what()) +
                             "\", its predicate says \"" + answer.reason + "\"");
    throw;
  }
}

template <Half T>
class DeviceLauncher final : public LinearLauncher<T> {
 public:
  DeviceLauncher(LinearCall call, int device_id)
      : call_(std::move(call)), device_id_(device_id), scope_(device_id) {}

  Launched<T> launch(const HostLayer<T>& host, std::span<const BlockRange> rows) override {
    const DeviceLayer<T> layer(host, memory_, device_id_, stream_);
    layer.poison(stream_);
    Launched<T> result;
    try {
      result.algorithm =
          call_({layer.x(), *layer.layer().weight, *layer.layer().bias, layer.output()}, stream_);
    } catch (const kernels::Refused& refusal) {
      stream_.wait();
      result.refusal = refusal.what();
      return result;
    }
    stream_.wait();
    fetch(host.shape, layer, rows, result);
    result.overwritten += changed(layer.x(), host.x) + changed(*layer.layer().weight, host.weight) +
                          changed(*layer.layer().bias, host.bias);
    return result;
  }

 private:
  // All rows come back, in parts: the tested ones are kept, the others searched for poison.
  void fetch(const reference::GemmShape& shape, const DeviceLayer<T>& layer, std::span<const BlockRange> rows,
             Launched<T>& result) {
    constexpr std::size_t kElementsPerPart = 1u << 25;
    std::uint64_t row = 0;
    for (const BlockRange& tested : rows) {
      search(shape, layer, {row, tested.begin}, kElementsPerPart, result);
      const std::size_t before = result.outputs.size(), count = (tested.end - tested.begin) * shape.columns;
      result.outputs.resize(before + count);
      download(layer.output_data() + tested.begin * shape.columns, result.outputs.data() + before, count);
      row = tested.end;
    }
    search(shape, layer, {row, shape.rows}, kElementsPerPart, result);

    std::vector<std::uint16_t> band(kGuardElements);
    for (const std::uint16_t* guard : layer.guards()) {
      download(guard, band.data(), band.size());
      result.overwritten += band.size() - count_poison(band);
    }
  }

  void search(const reference::GemmShape& shape, const DeviceLayer<T>& layer, BlockRange rows,
              std::size_t elements_per_part, Launched<T>& result) {
    std::size_t begin = rows.begin * shape.columns;
    const std::size_t end = rows.end * shape.columns;
    while (begin < end) {
      part_.resize(std::min(elements_per_part, end - begin));
      download(layer.output_data() + begin, part_.data(), part_.size());
      result.unwritten += count_poison(part_);
      begin += part_.size();
    }
  }

  // Elements of an operand that are no longer what they were.
  std::uint64_t changed(const DLTensor& tensor, const std::vector<T>& values) {
    std::vector<T> after(values.size());
    download(static_cast<const std::uint16_t*>(tensor.data), after.data(), after.size());
    if (after == values) return 0;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) count += after[i] != values[i];
    return count;
  }

  static void download(const std::uint16_t* from, void* to, std::size_t elements) {
    check(cudaMemcpy(to, from, elements * sizeof(std::uint16_t), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

  LinearCall call_;
  int device_id_;
  kernels::cuda::DeviceScope scope_;
  Stream stream_;
  DeviceLayerMemory memory_;
  std::vector<std::uint16_t> part_;
};

}  // namespace

LinearLibrary linear_library() {
  const kernels::cuda::CublasLtLoad& load = kernels::cuda::cublaslt();
  return load.library ? LinearLibrary{load.library->version_text, ""} : LinearLibrary{"", load.reason};
}

std::optional<std::string> linear_plan_rule(kernels::LinearGeluPath path) {
  using kernels::cuda::LinearEpilogue;
  return kernels::cuda::plan_rule_text(path == kernels::LinearGeluPath::eager ? LinearEpilogue::bias
                                                                              : LinearEpilogue::gelu_bias);
}

template <Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(LinearCall call, int device_id) {
  return std::make_unique<DeviceLauncher<T>>(std::move(call), device_id);
}

template <Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(kernels::LinearGeluPath path, int device_id) {
  return make_device_launcher<T>(std::bind_front(call_path, path), device_id);
}

template std::unique_ptr<LinearLauncher<reference::Bf16>> make_device_launcher(LinearCall, int);
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_device_launcher(LinearCall, int);
template std::unique_ptr<LinearLauncher<reference::Bf16>> make_device_launcher(kernels::LinearGeluPath, int);
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_device_launcher(kernels::LinearGeluPath, int);

}  // namespace bitproof::conformance
