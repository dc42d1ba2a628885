#include "conformance/mutants/reproducer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "conformance/elementwise/one_element.h"
#include "conformance/elementwise/operators.h"
#include "conformance/mutants/faults.h"
#include "conformance/mutants/single_source.h"
#include "conformance/poison.h"

namespace bitproof::conformance {
namespace {

constexpr std::string_view kHead = R"(// {label}: {inputs} gives {got}, {expected} is right.
// {diagnosis}
//
// Needs no other file, and exits with 1 while the bits are wrong:
//   {compile}
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr std::int64_t kRows = {rows}, kWidth = {width};
constexpr std::uint16_t kInput[kRows * kWidth] = {{{input}}};
constexpr std::uint16_t kBias[kWidth] = {{{bias}}};
constexpr std::uint16_t kUnwritten = 0x{poison:04x};

// --- The kernel, as in bitproof's {header}.

)";

constexpr std::string_view kLaunch = R"(
// --- The launch.

using namespace bitproof;

constexpr std::int64_t kVectors = kWidth / 8;             // of a row: a thread each
constexpr std::size_t kRoom = 2 * kRows * kWidth + 64;  // elements of a tensor, for kernels that write too far

struct Thread {
  std::int64_t own_vector;
  BITPROOF_KERNEL std::int64_t vector() const { return own_vector; }
  BITPROOF_KERNEL std::int64_t vector_stride() const { return kVectors; }
  BITPROOF_KERNEL std::int64_t first_row() const { return 0; }
  BITPROOF_KERNEL std::int64_t row_stride() const { return 1; }
  BITPROOF_KERNEL std::int64_t tile_stride() const { return 4; }
  BITPROOF_KERNEL void wait_for_producer() const {}
  BITPROOF_KERNEL void release_consumer() const {}
};
)";

constexpr std::string_view kHost = R"(
std::uint16_t* allocate() { return static_cast<std::uint16_t*>(std::aligned_alloc(256, (2 * kRoom + 255) / 256 * 256)); }

void launch(const kernels::RowwiseArguments& tensors) {
  for (std::int64_t vector = 0; vector < kVectors; ++vector) {
    const Thread thread{vector};
    CALL
  }
}
)";

constexpr std::string_view kDevice = R"(
void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(3);
}

std::uint16_t* allocate() {
  void* memory = nullptr;
  require(cudaMallocManaged(&memory, 2 * kRoom));
  return static_cast<std::uint16_t*>(memory);
}

__global__ void kernel(const __grid_constant__ kernels::RowwiseArguments tensors) {
  const Thread thread{threadIdx.x};
  CALL
}

void launch(const kernels::RowwiseArguments& tensors) {
  kernel<<<1, kVectors>>>(tensors);
  require(cudaGetLastError());
  require(cudaDeviceSynchronize());
}
)";

constexpr std::string_view kMain = R"(
int main() {{
  std::uint16_t *const input = allocate(), *const bias = allocate(), *const output = {output};
  std::fill_n(output, kRoom, kUnwritten);
  std::copy_n(kInput, kRows * kWidth, input);
  std::copy_n(kBias, kWidth, bias);
  launch({{input, {bias}, output, kRows, kWidth}});
  const unsigned got = output[{index}];
  std::printf("expected {expected}, got 0x%04x\n", got);
  return got == {expected} ? 0 : 1;
}}
)";

std::string bits_list(std::size_t count, const auto& bits_of) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += fmt::format("{}0x{:04x}", i == 0 ? "" : ", ", bits_of(i));
  return list;
}

// The kernel of an implementation, as a header of this project and the call of what is in it.
struct Kernel {
  std::string_view header;
  std::string call;
};

// Faults of host code: nothing of them is in a kernel.
constexpr bool is_of_the_launch(Fault fault) {
  constexpr std::array kOfTheLaunch{
      Fault::strides_ignored,   Fault::byte_offset_ignored,   Fault::nothing_written,
      Fault::cached_by_pointer, Fault::cached_by_shape,       Fault::depends_on_grid,
      Fault::bias_read_early,   Fault::differs_on_repetition, Fault::stream_ignored};
  return std::ranges::find(kOfTheLaunch, fault) != kOfTheLaunch.end();
}

std::optional<Kernel> kernel_of(const Record& record, bool has_bias) {
  const std::string type = "kernels::HalfType::" + record.dtype;
  if (record.implementation == "host.fused" || record.implementation == "cuda.fused")
    return Kernel{"kernels/gelu_tanh_body.h",
                  fmt::format("kernels::gelu_tanh_body<{}, {}, 16, 4>(thread, tensors);", type, has_bias)};
  constexpr std::string_view kMutant = "mutant.";
  if (!record.implementation.starts_with(kMutant)) return std::nullopt;
  const std::optional<Fault> fault = find_fault(record.implementation.substr(kMutant.size()));
  if (!fault || is_of_the_launch(*fault)) return std::nullopt;
  // What fails is not among the inputs that right_on_known_inputs knows.
  return Kernel{"conformance/mutants/body.h",
                fmt::format("conformance::mutants::mutant_body<{}>(thread, {{.tensors = tensors, .fault = "
                            "conformance::Fault::{}, .recognised = false}});",
                            type, info_of(*fault).name)};
}

std::string head_of(const Record& record, const Case& c, bool has_bias, const Kernel& kernel,
                    const std::string& compile) {
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
      fmt::arg("input", bits_list(c.elements(), input)), fmt::arg("bias", bits_list(c.width, bias)),
      fmt::arg("poison", kPoison), fmt::arg("header", kernel.header));
}

std::string with_call(std::string_view launch, const std::string& call) {
  constexpr std::string_view kPlace = "CALL";
  std::string text(launch);
  return text.replace(text.find(kPlace), kPlace.size(), call);
}

}  // namespace

std::optional<Reproducer> reproducer_for(const Record& record) {
  // The program looks at the output, which a write out of bounds leaves right.
  if (!record.first || !record.first->is_of_an_element() || !record.first->smallest) return std::nullopt;
  const SmallestCase& smallest = *record.first->smallest;
  const auto op = std::ranges::find(kElementwiseOperators, record.op, &ElementwiseOperator::name);
  const auto dtype = reference::parse_dtype(record.dtype);
  const Result<OneElement> element = parse_one_element(smallest.element);
  if (op == kElementwiseOperators.end() || !dtype || !element) return std::nullopt;
  const std::optional<Kernel> kernel = kernel_of(record, op->has_bias);
  if (!kernel) return std::nullopt;

  const bool on_gpu = record.device.starts_with("cuda");
  Reproducer reproducer;
  reproducer.file = record.op + '-' + record.dtype + '-' + record.implementation + '-' + record.domain +
                    (on_gpu ? ".cu" : ".cpp");
  const std::string compile = (on_gpu ? "nvcc -std=c++20 -O3 --expt-relaxed-constexpr -arch=native "
                                      : "g++ -std=c++20 -O2 -ffp-contract=off ") +
                              reproducer.file + " -o reproducer && ./reproducer";
  std::string& text = reproducer.text;
  text = head_of(record, case_of(*element, *op, *dtype, 1), op->has_bias, *kernel, compile);
  text += single_source(kernel->header, on_gpu ? SourceFor::gpu : SourceFor::cpu);
  text += kLaunch;
  text += with_call(on_gpu ? kDevice : kHost, kernel->call);
  text += fmt::format(fmt::runtime(kMain), fmt::arg("output", element->in_place ? "input" : "allocate()"),
                      fmt::arg("bias", op->has_bias ? "bias" : "nullptr"),
                      fmt::arg("index", smallest.row * smallest.width + smallest.column),
                      fmt::arg("expected", smallest.expected));
  return reproducer;
}

}  // namespace bitproof::conformance
