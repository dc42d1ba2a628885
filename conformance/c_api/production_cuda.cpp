#include "conformance/c_api/production_cuda.h"

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <cuda_runtime_api.h>

#include "kernels/cuda/device.h"
#include "kernels/gelu_tanh.h"
#include "kernels/linear_gelu/linear_gelu.h"
#include "kernels/tensor.h"

namespace bitproof::conformance::c_api {
namespace {

using kernels::cuda::LinearGeluTanh;

// While a stream is captured into a graph, calls like cudaMalloc are forbidden to a thread that has not said
// that it means them. A plan allocates its workspace, which belongs to no graph and to no stream's order.
class DuringCapture {
 public:
  DuringCapture() { exchange(); }
  ~DuringCapture() { exchange(); }
  DuringCapture(const DuringCapture&) = delete;
  DuringCapture& operator=(const DuringCapture&) = delete;

 private:
  void exchange() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Everything that a plan is made for.
using PlanKey = std::tuple<int, kernels::HalfType, std::int64_t, std::int64_t, std::int64_t, CUstream_st*>;

class Plans {
 public:
  const LinearGeluTanh& of(const kernels::LinearLayer& layer, const DLTensor& x, const DLTensor& output,
                           CUstream_st* stream) {
    const kernels::RowsByWidth shape = kernels::rows_by_width(x);
    const PlanKey key{x.device.device_id, *kernels::half_type(x), shape.rows,
                      shape.width,        layer.weight->shape[0], stream};
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LinearGeluTanh>& plan = plans_[key];
    if (plan) return *plan;
    const DuringCapture allowed;
    plan = std::make_unique<LinearGeluTanh>(kernels::LinearGeluPath::eager, layer, x, output);
    return *plan;
  }

 private:
  std::mutex mutex_;
  std::map<PlanKey, std::unique_ptr<LinearGeluTanh>> plans_;
};

// Never destroyed: at exit the CUDA context may be gone before it.
Plans& plans() {
  static Plans* const kPlans = new Plans;
  return *kPlans;
}

}  // namespace

void gelu_tanh_on_gpu(const DLTensor& input, const DLTensor& output, CUstream_st* stream) {
  kernels::cuda::gelu_tanh(input, output, stream);
}

void bias_gelu_tanh_on_gpu(const DLTensor& input, const DLTensor& bias, const DLTensor& output,
                           CUstream_st* stream) {
  kernels::cuda::bias_gelu_tanh(input, bias, output, stream);
}

void linear_gelu_tanh_on_gpu(const DLTensor& x, const DLTensor& weight, const DLTensor& bias,
                             const DLTensor& output, CUstream_st* stream) {
  const kernels::LinearLayer layer{.weight = &weight, .bias = &bias};
  kernels::require(kernels::cuda::can_use_linear_gelu_tanh(layer, x, output));
  const kernels::cuda::DeviceScope device(x.device.device_id);
  plans().of(layer, x, output, stream)(layer, x, output, stream);
}

}  // namespace bitproof::conformance::c_api
