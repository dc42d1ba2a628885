#include "conformance/mutants/reproducer.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "conformance/elementwise/one_element.h"
#include "conformance/elementwise/operators.h"
#include "conformance/mutants/faults.h"

namespace bitproof::conformance {
namespace {

constexpr std::string_view kHead = R"(// {label}: {inputs} gives {got}, {expected} is right.
// {diagnosis}
//
// At the root of the sources, after `./bitproof list` has generated the tables of the special-function unit:
//   {compile}
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "conformance/mutants/body.h"

using namespace bitproof;

constexpr std::int64_t kRows = {rows}, kWidth = {width};
constexpr std::uint16_t kInput[kRows * kWidth] = {{{input}}};
constexpr std::uint16_t kBias[kWidth] = {{{bias}}};
)";

constexpr std::string_view kHostThread = R"(
// One thread that walks over the whole tensor.
struct Thread {
  std::int64_t vector() const { return 0; }
  std::int64_t vector_stride() const { return 1; }
  std::int64_t first_row() const { return 0; }
  std::int64_t row_stride() const { return 1; }
  std::int64_t tile_stride() const { return 4; }
  void wait_for_producer() const {}
  void release_consumer() const {}
};
)";

constexpr std::string_view kDeviceThread = R"(
// A thread for each vector of a row.
struct Thread {
  __device__ std::int64_t vector() const { return threadIdx.x; }
  __device__ std::int64_t vector_stride() const { return blockDim.x; }
  __device__ std::int64_t first_row() const { return 0; }
  __device__ std::int64_t row_stride() const { return 1; }
  __device__ std::int64_t tile_stride() const { return 4; }
  __device__ void wait_for_producer() const {}
  __device__ void release_consumer() const {}
};

__global__ void kernel(const __grid_constant__ kernels::RowwiseArguments tensors) {
)";

constexpr std::string_view kHostMain = R"(
int main() {{
  alignas(32) static std::uint16_t input[kRows * kWidth], bias[kWidth], output[2 * kRows * kWidth + 64];
  std::memcpy(input, kInput, sizeof input);
  std::memcpy(bias, kBias, sizeof bias);
  std::memset(output, 0xFF, sizeof output);
  const kernels::RowwiseArguments tensors{{input, {bias_pointer}, {output}, kRows, kWidth}};
  {call}
  const unsigned got = {output}[{index}];
)";

constexpr std::string_view kDeviceMain = R"(
int main() {{
  std::uint16_t *input, *bias, *output;
  cudaMallocManaged(&input, sizeof kInput);
  cudaMallocManaged(&bias, sizeof kBias);
  cudaMallocManaged(&output, 4 * sizeof kInput + 128);
  std::memcpy(input, kInput, sizeof kInput);
  std::memcpy(bias, kBias, sizeof kBias);
  std::memset(output, 0xFF, 4 * sizeof kInput + 128);
  kernel<<<1, 64>>>({{input, {bias_pointer}, {output}, kRows, kWidth}});
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {{
    std::printf("%s\n", cudaGetErrorString(error));
    return 3;
  }}
  const unsigned got = {output}[{index}];
)";

constexpr std::string_view kTail = R"(  std::printf("expected {expected}, got 0x%04x\n", got);
  return got == {expected} ? 0 : 1;
}}
)";

std::string bits_list(std::size_t count, const auto& bits_of) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += fmt::format("{}0x{:04x}", i == 0 ? "" : ", ", bits_of(i));
  return list;
}

// The call of the kernel with `tensors`; nothing for an implementation that is no header.
std::optional<std::string> call_of(const Record& record, bool has_bias) {
  const std::string type = "kernels::HalfType::" + record.dtype;
  if (record.implementation == "host.fused" || record.implementation == "cuda.fused")
    return fmt::format("kernels::gelu_tanh_body<{}, {}, 16, 4>(Thread{{}}, tensors);", type, has_bias);
  constexpr std::string_view kMutant = "mutant.";
  if (!record.implementation.starts_with(kMutant)) return std::nullopt;
  const std::string fault = record.implementation.substr(kMutant.size());
  if (!find_fault(fault)) return std::nullopt;
  return fmt::format(
      "conformance::mutants::mutant_body<{}>(Thread{{}}, {{.tensors = tensors, .fault = "
      "conformance::Fault::{}}});",
      type, fault);
}

std::string head_of(const Record& record, const Case& c, bool has_bias, const std::string& compile) {
  const SmallestCase& smallest = *record.first->smallest;
  const auto input = [&](std::size_t i) { return c.source.input(i / c.width, i % c.width); };
  const auto bias = [&](std::size_t i) { return has_bias ? c.source.bias(i) : std::uint16_t{0}; };
  return fmt::format(
      fmt::runtime(kHead),
      fmt::arg("label", record.op + ' ' + record.dtype + ' ' + record.implementation + " on " + record.device),
      fmt::arg("inputs", fmt::format("{}", fmt::join(smallest.inputs, ", "))), fmt::arg("got", smallest.got),
      fmt::arg("expected", smallest.expected),
      fmt::arg("diagnosis", record.first->diagnosis.empty() ? "No known fault gives all of its bits."
                                                            : "It " + record.first->diagnosis + "."),
      fmt::arg("compile", compile), fmt::arg("rows", smallest.rows), fmt::arg("width", smallest.width),
      fmt::arg("input", bits_list(c.elements(), input)), fmt::arg("bias", bits_list(c.width, bias)));
}

}  // namespace

std::optional<Reproducer> reproducer_for(const Record& record) {
  if (!record.first || !record.first->smallest) return std::nullopt;
  const SmallestCase& smallest = *record.first->smallest;
  const auto op = std::ranges::find(kElementwiseOperators, record.op, &ElementwiseOperator::name);
  const auto dtype = reference::parse_dtype(record.dtype);
  const Result<OneElement> element = parse_one_element(smallest.element);
  if (op == kElementwiseOperators.end() || !dtype || !element) return std::nullopt;
  const std::optional<std::string> call = call_of(record, op->has_bias);
  if (!call) return std::nullopt;

  const bool on_gpu = record.device.starts_with("cuda");
  Reproducer reproducer;
  reproducer.file = record.op + '-' + record.dtype + '-' + record.implementation + '-' + record.domain +
                    (on_gpu ? ".cu" : ".cpp");
  const std::string compile =
      (on_gpu ? "nvcc -std=c++20 -O3 --expt-relaxed-constexpr -arch=native"
              : "g++ -std=c++20 -O2 -ffp-contract=off") +
      (" -I. -Ibuild/release/generated " + reproducer.file + " -o reproducer && ./reproducer");
  std::string& text = reproducer.text;
  text = head_of(record, case_of(*element, *op, *dtype, 1), op->has_bias, compile);
  text += on_gpu ? kDeviceThread : kHostThread;
  if (on_gpu) text += "  " + *call + "\n}\n";
  text += fmt::format(fmt::runtime(on_gpu ? kDeviceMain : kHostMain),
                      fmt::arg("bias_pointer", op->has_bias ? "bias" : "nullptr"),
                      fmt::arg("output", element->in_place ? "input" : "output"), fmt::arg("call", *call),
                      fmt::arg("index", smallest.row * smallest.width + smallest.column));
  text += fmt::format(fmt::runtime(kTail), fmt::arg("expected", smallest.expected));
  return reproducer;
}

}  // namespace bitproof::conformance
