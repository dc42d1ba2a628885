// The production kernels through the C interface: conformance/bitproof.h.
#include "conformance/bitproof.h"
#include "conformance/c_api/error.h"
#include "conformance/c_api/production_cuda.h"
#include "kernels/gelu_tanh.h"

namespace c_api = bitproof::conformance::c_api;
namespace kernels = bitproof::kernels;

namespace {

bool is_on_gpu(const DLTensor& tensor) { return tensor.device.device_type == kDLCUDA; }

}  // namespace

bitproof_status bitproof_gelu_tanh(const DLTensor* input, const DLTensor* output, void* stream) {
  return c_api::guarded([&] {
    if (input == nullptr || output == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_gelu_tanh: a tensor is null");
    is_on_gpu(*input) ? c_api::gelu_tanh_on_gpu(*input, *output, static_cast<CUstream_st*>(stream))
                      : kernels::host::gelu_tanh(*input, *output);
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_bias_gelu_tanh(const DLTensor* input, const DLTensor* bias, const DLTensor* output,
                                        void* stream) {
  return c_api::guarded([&] {
    if (input == nullptr || bias == nullptr || output == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_bias_gelu_tanh: a tensor is null");
    is_on_gpu(*input) ? c_api::bias_gelu_tanh_on_gpu(*input, *bias, *output, static_cast<CUstream_st*>(stream))
                      : kernels::host::bias_gelu_tanh(*input, *bias, *output);
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_linear_gelu_tanh(const DLTensor* x, const DLTensor* weight, const DLTensor* bias,
                                          const DLTensor* output, void* stream) {
  return c_api::guarded([&] {
    if (x == nullptr || weight == nullptr || bias == nullptr || output == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_linear_gelu_tanh: a tensor is null");
    c_api::linear_gelu_tanh_on_gpu(*x, *weight, *bias, *output, static_cast<CUstream_st*>(stream));
    return BITPROOF_OK;
  });
}
