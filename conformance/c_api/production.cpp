// The production kernels through the C interface: conformance/bitproof.h.
#include <stdexcept>
#include <string>

#include "conformance/bitproof.h"
#include "conformance/c_api/error.h"
#include "conformance/c_api/production_cuda.h"
#include "kernels/gelu_tanh.h"

namespace c_api = bitproof::conformance::c_api;
namespace kernels = bitproof::kernels;

namespace {

// What every function asks before it looks at a tensor. Throws std::invalid_argument.
template <class... Tensors>
void require_tensors(const std::string& function, const Tensors*... tensors) {
  if (((tensors == nullptr) || ...)) throw std::invalid_argument(function + ": a tensor is null");
  if (((tensors->ndim > 0 && tensors->shape == nullptr) || ...))
    throw std::invalid_argument(function + ": a tensor has no shape");
}

bool is_on_gpu(const DLTensor& tensor) { return tensor.device.device_type == kDLCUDA; }

}  // namespace

bitproof_status bitproof_gelu_tanh(const DLTensor* input, const DLTensor* output, void* stream) {
  return c_api::guarded([&] {
    require_tensors("bitproof_gelu_tanh", input, output);
    is_on_gpu(*input) ? c_api::gelu_tanh_on_gpu(*input, *output, static_cast<CUstream_st*>(stream))
                      : kernels::host::gelu_tanh(*input, *output);
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_bias_gelu_tanh(const DLTensor* input, const DLTensor* bias, const DLTensor* output,
                                        void* stream) {
  return c_api::guarded([&] {
    require_tensors("bitproof_bias_gelu_tanh", input, bias, output);
    is_on_gpu(*input) ? c_api::bias_gelu_tanh_on_gpu(*input, *bias, *output, static_cast<CUstream_st*>(stream))
                      : kernels::host::bias_gelu_tanh(*input, *bias, *output);
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_linear_gelu_tanh(const DLTensor* x, const DLTensor* weight, const DLTensor* bias,
                                          const DLTensor* output, void* stream) {
  return c_api::guarded([&] {
    require_tensors("bitproof_linear_gelu_tanh", x, weight, bias, output);
    c_api::linear_gelu_tanh_on_gpu(*x, *weight, *bias, *output, static_cast<CUstream_st*>(stream));
    return BITPROOF_OK;
  });
}
