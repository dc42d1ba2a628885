#include "conformance/elementwise/implementation.h"
#include "kernels/gelu_tanh.h"

namespace bitproof::conformance {
namespace {

namespace cuda = kernels::cuda;
using kernels::Applicability;

// The four functions by which one implementation serves both operators.
struct Functions {
  Applicability (*can_use_gelu)(const DLTensor& input, const DLTensor& output);
  Applicability (*can_use_bias_gelu)(const DLTensor& input, const DLTensor& bias, const DLTensor& output);
  void (*gelu)(const DLTensor& input, const DLTensor& output, CUstream_st* stream);
  void (*bias_gelu)(const DLTensor& input, const DLTensor& bias, const DLTensor& output, CUstream_st* stream);
};

ElementwiseImplementation implementation(std::string_view name, std::uint32_t vector_elements, Functions f) {
  return {.name = std::string(name),
          .location = Location::device,
          .vector_elements = vector_elements,
          .can_use =
              [f](const Tensors& t) {
                return t.has_bias ? f.can_use_bias_gelu(t.input, t.bias, t.output)
                                  : f.can_use_gelu(t.input, t.output);
              },
          .run =
              [f](const Tensors& t, CUstream_st* stream) {
                t.has_bias ? f.bias_gelu(t.input, t.bias, t.output, stream) : f.gelu(t.input, t.output, stream);
              }};
}

}  // namespace

std::vector<ElementwiseImplementation> device_implementations() {
  return {
      implementation(
          "cuda.fused", 8,
          {cuda::can_use_gelu_tanh, cuda::can_use_bias_gelu_tanh, cuda::gelu_tanh, cuda::bias_gelu_tanh}),
      implementation("cuda.eager", 1,
                     {cuda::eager::can_use_gelu_tanh, cuda::eager::can_use_bias_gelu_tanh,
                      cuda::eager::gelu_tanh, cuda::eager::bias_gelu_tanh}),
      implementation("cuda.baseline", 8,
                     {cuda::baseline::can_use_gelu_tanh, cuda::baseline::can_use_bias_gelu_tanh,
                      cuda::baseline::gelu_tanh, cuda::baseline::bias_gelu_tanh}),
  };
}

}  // namespace bitproof::conformance
