// A linear layer with its inputs on the host and on the device, run through both implementations.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/linear_gelu/linear_gelu.h"
#include "reference/linear/linear.h"
#include "tests/kernels/linear_gelu/probe/device_tensor.h"

namespace bitproof::probe {

template <reference::Half T>
struct HostLayer {
  reference::GemmShape shape;
  std::vector<T> x, weight, bias;

  reference::LinearOperands<T> operands(int splits = 1) const {
    return {.x = x, .weight = weight, .bias = bias, .shape = shape, .splits = splits};
  }
};

// The outputs of both paths, and what else a run tells.
template <reference::Half T>
struct DeviceOutputs {
  std::vector<T> eager, fused;
  kernels::cuda::CublasLtAlgorithm eager_algorithm, fused_algorithm;
  std::uint64_t guard_violations = 0;
};

template <reference::Half T>
class DeviceLayer {
 public:
  explicit DeviceLayer(const HostLayer<T>& host)
      : x_(DeviceTensor::of<T>({extent(host.shape.rows), extent(host.shape.depth)}, host.x)),
        weight_(DeviceTensor::of<T>({extent(host.shape.columns), extent(host.shape.depth)}, host.weight)),
        bias_(DeviceTensor::of<T>({extent(host.shape.columns)}, host.bias)),
        output_({extent(host.shape.rows), extent(host.shape.columns)}, T::kDtype) {}

  kernels::LinearLayer layer() const { return {.weight = &*weight_, .bias = &*bias_}; }

  kernels::cuda::LinearGeluTanh prepare(kernels::LinearGeluPath path) const {
    return {path, layer(), *x_, *output_};
  }

  void launch(const kernels::cuda::LinearGeluTanh& implementation) const {
    implementation(layer(), *x_, *output_, nullptr);
  }

  DeviceOutputs<T> run() {
    DeviceOutputs<T> result;
    const auto run_one = [&](kernels::LinearGeluPath path, kernels::cuda::CublasLtAlgorithm& algorithm) {
      output_.poison();
      const kernels::cuda::LinearGeluTanh implementation = prepare(path);
      algorithm = implementation.algorithm();
      launch(implementation);
      kernels::cuda::check(cudaDeviceSynchronize(), "linear_gelu_tanh");
      result.guard_violations += output_.guard_violations();
      return output_.download<T>();
    };
    result.eager = run_one(kernels::LinearGeluPath::eager, result.eager_algorithm);
    result.fused = run_one(kernels::LinearGeluPath::cublaslt, result.fused_algorithm);
    return result;
  }

  // GELU_BIAS with whatever algorithm the library ranks first.
  std::vector<T> run_fused(const kernels::cuda::LinearPlan& plan) {
    output_.poison();
    plan.run(x_->data, weight_->data, bias_->data, output_->data, nullptr);
    kernels::cuda::check(cudaDeviceSynchronize(), "LinearPlan::run");
    return output_.download<T>();
  }

 private:
  static std::int64_t extent(std::size_t value) { return static_cast<std::int64_t>(value); }

  DeviceTensor x_, weight_, bias_, output_;
};

}  // namespace bitproof::probe
