#include "tests/conformance/elementwise_samples.h"

#include <stdexcept>
#include <utility>

#include "conformance/report/combine.h"
#include "kernels/elementwise_guard.h"
#include "reference/operators.h"

namespace bitproof::conformance::testing {
namespace {

constexpr std::uint64_t kSeed = 42;

template <reference::Half T>
std::uint16_t right_bits(const Tensors& tensors, std::int64_t index, std::int64_t column) {
  const T x{data_of(tensors.input)[index]};
  const auto& profile = reference::kPytorch211Cuda;
  if (!tensors.has_bias) return reference::gelu_tanh(x, profile).bits;
  return reference::bias_gelu_tanh(x, T{data_of(tensors.bias)[column]}, profile).bits;
}

void apply(const Rule& rule, const Tensors& tensors) {
  const std::int64_t rows = tensors.input.shape[0], width = tensors.input.shape[1];
  const bool bf16 = tensors.input.dtype.code == kDLBfloat;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t in = row * tensors.input.strides[0] + column;
      const std::uint16_t right = bf16 ? right_bits<reference::Bf16>(tensors, in, column)
                                       : right_bits<reference::Fp16>(tensors, in, column);
      const auto written = rule(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column), right);
      if (written) data_of(tensors.output)[row * tensors.output.strides[0] + column] = *written;
    }
}

ElementwiseImplementation implementation(std::function<void(const Tensors&)> run) {
  return {.name = "host.sample",
          .location = Location::host,
          .vector_elements = 8,
          .can_use = [](const Tensors&) { return kernels::Applicability{}; },
          .run = [run = std::move(run)](const Tensors& tensors, CUstream_st*) { run(tensors); }};
}

}  // namespace

ElementwiseImplementation ruled_implementation(Rule rule) {
  return implementation([rule = std::move(rule)](const Tensors& tensors) { apply(rule, tensors); });
}

ElementwiseImplementation spoiled_implementation(std::function<void(const Tensors&)> spoil) {
  const Rule right = [](std::uint64_t, std::uint64_t, std::uint16_t bits) { return std::optional(bits); };
  return implementation([right, spoil = std::move(spoil)](const Tensors& tensors) {
    apply(right, tensors);
    spoil(tensors);
  });
}

ElementwiseImplementation refusing_implementation(std::string predicted, std::string raised,
                                                  std::function<void(const Tensors&)> before) {
  ElementwiseImplementation refusing = implementation([=](const Tensors& tensors) {
    if (before) before(tensors);
    throw kernels::Refused(raised);
  });
  refusing.can_use = [=](const Tensors&) { return kernels::Applicability{predicted}; };
  return refusing;
}

ElementwiseDomain random_domain(const ElementwiseOperator& op, reference::Dtype dtype, std::uint64_t blocks,
                                std::uint64_t rows, std::uint64_t width) {
  return {.name = "random",
          .unit = "elements",
          .total = blocks * rows * width,
          .sampled = true,
          .blocks = blocks,
          .make_case = [=](std::uint64_t block) {
            Case c;
            c.rows = rows;
            c.width = width;
            c.source.rule = InputRule::random_bits;
            c.source.fp16 = dtype == reference::Dtype::fp16;
            c.source.unary = !op.has_bias;
            c.source.seed = kSeed;
            c.source.width = width;
            c.source.first_row = block * rows;
            c.source.bias_stream = block;
            c.first_index = block * rows * width;
            return c;
          }};
}

ElementwiseDomain domain_of_one_case(Case c) {
  return {.name = "layout", .unit = "cases", .total = 1, .blocks = 1, .make_case = [c](std::uint64_t) {
            return c;
          }};
}

ElementwiseSubject subject(const ElementwiseOperator& op, reference::Dtype dtype,
                           ElementwiseImplementation implementation, ElementwiseDomain domain) {
  Record identity;
  identity.op = op.name;
  identity.dtype = reference::name(dtype);
  identity.implementation = implementation.name;
  identity.domain = domain.name;
  identity.device = "cpu";
  identity.architecture = "x86_64";
  identity.profile = reference::kPytorch211Cuda.name;
  identity.equality = "bitwise";
  identity.evidence = "executed";
  identity.machine_code_key = std::string(64, 'a');
  identity.seed = kSeed;
  identity.total = domain.total;
  identity.unit = domain.unit;
  identity.sampled = domain.sampled;
  identity.blocks_total = domain.blocks;
  return {
      op, dtype, reference::kPytorch211Cuda, std::move(implementation), std::move(domain), std::move(identity),
      {}};
}

PlannedCheck planned(const ElementwiseSubject& subject) {
  return {
      .record = subject.identity, .start = [subject] { return make_host_check(subject); }, .unavailable = {}};
}

Record run_all(const ElementwiseSubject& subject) {
  const std::unique_ptr<Check> check = make_host_check(subject);
  Record sum = check->plan();
  for (std::uint64_t block = 0; block < subject.domain.blocks; ++block) {
    Result<Record> next = combine(sum, check->run_block(block));
    if (!next) throw std::runtime_error(next.error().message());
    sum = *std::move(next);
  }
  return decided(std::move(sum), {0, subject.domain.blocks});
}

}  // namespace bitproof::conformance::testing
