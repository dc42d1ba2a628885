#include "conformance/foreign/callback.h"

#include <array>
#include <cfenv>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conformance/device/copy_rows.h"
#include "kernels/elementwise_guard.h"
#include "kernels/tensor.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

constexpr std::size_t kReasonBytes = 1024;

// Behind bitproof_call::opaque.
struct CallState {
  bool returns_output = false;
  bool returned = false;
};

// What two tensors differ in, so that one cannot be copied to the other; empty when it can.
std::string difference_in_kind(const DLTensor& result, const DLTensor& output) {
  if (result.ndim > 0 && result.shape == nullptr) return "it has no shape";
  if (kernels::half_type(result) != kernels::half_type(output)) return "it has another dtype than the input";
  if (kernels::shape_text(result) != kernels::shape_text(output))
    return "its shape is " + kernels::shape_text(result) + "; " + kernels::shape_text(output) + " is needed";
  if (result.device.device_type != output.device.device_type ||
      result.device.device_id != output.device.device_id)
    return "it is on another device than the input; leave it where the input is";
  if (result.strides != nullptr && result.shape[1] > 1 && result.strides[1] != 1)
    return "the elements of a row are not adjacent; make it contiguous";
  if (kernels::row_stride(result) < result.shape[1])
    return "its rows overlap or run backwards; make it contiguous";
  return result.data == nullptr ? "it has no data" : "";
}

// Calls the kernel. The modes of floating-point arithmetic belong to the thread, which computes the expected
// bits next: in another environment it would make the kernel's mistakes with it. Throws std::runtime_error.
int call_in_same_environment(bitproof_kernel_function kernel, const bitproof_call& call) {
  std::fenv_t before;
  std::fegetenv(&before);
  const int answer = kernel(&call);
  if (const auto fault = reference::environment_fault()) {
    std::fesetenv(&before);
    throw std::runtime_error("the kernel returned with another floating-point environment: " + *fault);
  }
  return answer;
}

}  // namespace

void call_kernel(const Callback& callback, std::string_view op_name, reference::Dtype dtype_of_call,
                 std::span<const DLTensor* const> inputs, const DLTensor& output, CUstream_st* stream) {
  const std::string op(op_name), dtype(reference::name(dtype_of_call));
  std::array<char, kReasonBytes> reason{};
  CallState state{callback.returns_output, false};
  const bitproof_call call{.struct_size = sizeof(bitproof_call),
                           .op = op.c_str(),
                           .dtype = dtype.c_str(),
                           .inputs = inputs.data(),
                           .input_count = static_cast<int>(inputs.size()),
                           .output = &output,
                           .stream = stream,
                           .reason = reason.data(),
                           .reason_bytes = reason.size(),
                           .user_data = callback.user_data,
                           .opaque = &state};
  const int answer = call_in_same_environment(callback.kernel, call);
  reason.back() = '\0';
  const std::string words = reason[0] == '\0' ? "it gave no reason" : reason.data();
  switch (answer) {
    case BITPROOF_KERNEL_DONE:
      if (callback.returns_output && !state.returned)
        throw std::runtime_error("the kernel handed no output back");
      return;
    case BITPROOF_KERNEL_REFUSED:
      throw kernels::Refused(words);
    case BITPROOF_KERNEL_FAILED:
      throw std::runtime_error("the kernel failed: " + words);
    default:
      throw std::runtime_error(fmt::format(
          "the kernel returned {}, which is none of BITPROOF_KERNEL_DONE, _REFUSED, _FAILED", answer));
  }
}

ElementwiseImplementation callback_implementation(std::string name, Location location,
                                                  const ForeignRequest& request, const Callback& callback) {
  return {.name = std::move(name),
          .location = location,
          .vector_elements = 1,
          .can_use = {},
          .run =
              [op = request.op, dtype = request.dtype, callback](const Tensors& tensors, CUstream_st* stream) {
                const std::array<const DLTensor*, 2> inputs{&tensors.input, &tensors.bias};
                call_kernel(callback, op, dtype, std::span(inputs).first(tensors.has_bias ? 2 : 1),
                            tensors.output, stream);
              },
          .concurrent = false};
}

LinearCall linear_callback(const ForeignRequest& request, const Callback& callback) {
  return [op = request.op, dtype = request.dtype, callback](
             const LinearTensors& tensors, CUstream_st* stream) -> std::optional<LibraryAlgorithm> {
    const std::array<const DLTensor*, 3> inputs{&tensors.x, &tensors.weight, &tensors.bias};
    call_kernel(callback, op, dtype, inputs, tensors.output, stream);
    return std::nullopt;  // what it ran, the kernel does not say
  };
}

void return_output(const bitproof_call& call, const DLTensor& result) {
  auto& state = *static_cast<CallState*>(call.opaque);
  if (!state.returns_output)
    throw std::logic_error(
        "the check was not created with returns_output, so the kernel writes to call->output");
  if (state.returned) throw std::logic_error("the kernel hands two outputs back in one call");
  if (const std::string what = difference_in_kind(result, *call.output); !what.empty())
    throw std::invalid_argument("the output that the kernel returns cannot be used: " + what);
  copy_rows(result, *call.output, static_cast<CUstream_st*>(call.stream));
  state.returned = true;
}

}  // namespace bitproof::conformance
