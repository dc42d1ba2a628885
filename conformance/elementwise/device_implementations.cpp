#include "conformance/elementwise/implementation.h"
#include "kernels/gelu_tanh.h"

namespace bitproof::conformance {

std::vector<ElementwiseImplementation> device_implementations() {
  namespace cuda = kernels::cuda;
  return {
      {.name = "cuda.fused",
       .location = Location::device,
       .vector_elements = 8,
       .can_use =
           [](const Tensors& t) {
             return t.has_bias ? cuda::can_use_bias_gelu_tanh(t.input, t.bias, t.output)
                               : cuda::can_use_gelu_tanh(t.input, t.output);
           },
       .run =
           [](const Tensors& t, CUstream_st* stream) {
             t.has_bias ? cuda::bias_gelu_tanh(t.input, t.bias, t.output, stream)
                        : cuda::gelu_tanh(t.input, t.output, stream);
           }},
      {.name = "cuda.eager",
       .location = Location::device,
       .vector_elements = 1,
       .can_use =
           [](const Tensors& t) {
             return t.has_bias ? cuda::eager::can_use_bias_gelu_tanh(t.input, t.bias, t.output)
                               : cuda::eager::can_use_gelu_tanh(t.input, t.output);
           },
       .run =
           [](const Tensors& t, CUstream_st* stream) {
             t.has_bias ? cuda::eager::bias_gelu_tanh(t.input, t.bias, t.output, stream)
                        : cuda::eager::gelu_tanh(t.input, t.output, stream);
           }},
      {.name = "cuda.baseline",
       .location = Location::device,
       .vector_elements = 8,
       .can_use =
           [](const Tensors& t) {
             return t.has_bias ? cuda::baseline::can_use_bias_gelu_tanh(t.input, t.bias, t.output)
                               : cuda::baseline::can_use_gelu_tanh(t.input, t.output);
           },
       .run =
           [](const Tensors& t, CUstream_st* stream) {
             t.has_bias ? cuda::baseline::bias_gelu_tanh(t.input, t.bias, t.output, stream)
                        : cuda::baseline::gelu_tanh(t.input, t.output, stream);
           }},
  };
}

}  // namespace bitproof::conformance
