// Which checks somebody else's kernel gets.
#include "conformance/foreign/foreign_check.h"

#include <algorithm>
#include <cfenv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include "conformance/foreign/callback.h"
#include "conformance/report/combine.h"
#include "kernels/elementwise_guard.h"
#include "kernels/tensor.h"
#include "reference/operators.h"

namespace bitproof::conformance {
namespace {

ForeignRequest request_for(const std::string& op, const std::string& domains) {
  ForeignRequestText text;
  text.op = op;
  text.dtype = "fp16";
  text.domains = domains;
  return *parse_foreign_request(text, "");
}

ForeignKernel kernel_at(Location location, bool returns_output) {
  ForeignKernel kernel;
  kernel.name = "kernel";
  kernel.location = location;
  kernel.returns_output = returns_output;
  kernel.load = [] { return host_implementations().front(); };
  return kernel;
}

const CudaDevice kDevice{0, {"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.1"}};

TEST(ForeignPlan, HasARecordForEachDomainInTheOrderAskedFor) {
  const auto plan =
      plan_foreign(request_for("bias_gelu_tanh", "pairs,values"), kernel_at(Location::device, false), kDevice);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(label(plan[0].record), "bias_gelu_tanh fp16 kernel pairs sm_90");
  EXPECT_EQ(label(plan[1].record), "bias_gelu_tanh fp16 kernel values sm_90");
  EXPECT_EQ(plan[0].record.device, "cuda:0");
  EXPECT_EQ(plan[0].record.verdict, Verdict::not_run);
}

TEST(ForeignPlan, WithoutItsDeviceSaysWhyNothingRuns) {
  ForeignKernel kernel = kernel_at(Location::device, false);
  kernel.load = {};
  kernel.unavailable = "no CUDA device: for the test";
  const auto plan = plan_foreign(request_for("silu", "values"), kernel, std::nullopt);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_FALSE(plan[0].start);
  EXPECT_EQ(plan[0].unavailable, "no CUDA device: for the test");
  EXPECT_EQ(plan[0].record.device, "cuda");
}

// Digests of expected outputs are remembered by the size of the domain (conformance/known_digests.h), so that
// layouts of another selection of cases must have another size.
TEST(ForeignPlan, LayoutsOfDifferentCasesDifferInSize) {
  for (const std::string op : {"bias_gelu_tanh", "gelu_tanh"}) {
    std::set<std::uint64_t> sizes;
    for (const Location location : {Location::host, Location::device})
      for (const bool returns_output : {false, true}) {
        const auto device = location == Location::host ? std::nullopt : std::optional(kDevice);
        const auto plan = plan_foreign(request_for(op, "layout"), kernel_at(location, returns_output), device);
        sizes.insert(plan.front().record.total);
      }
    EXPECT_EQ(sizes.size(), 4u) << op;
  }
}

TEST(ForeignPlan, RunsARightKernelToItsVerdict) {
  for (const PlannedCheck& planned : plan_foreign(request_for("gelu_tanh", "values,layout"),
                                                  kernel_at(Location::host, false), std::nullopt)) {
    const Record record = run_here(planned);
    EXPECT_EQ(record.verdict, Verdict::bit_exact) << record.reason;
    EXPECT_EQ(record.tested, record.total);
  }
}

TEST(ForeignPlan, AKernelThatCannotBeLoadedIsAnError) {
  ForeignKernel kernel = kernel_at(Location::host, false);
  kernel.load = []() -> ElementwiseImplementation { throw std::runtime_error("not today"); };
  const Record record = run_here(plan_foreign(request_for("silu", "values"), kernel, std::nullopt).front());
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "not today");
}

// The expected bits are computed on the same thread: with FTZ left on, half of the wrong sums of subnormals
// would be expected too.
TEST(ForeignPlan, AKernelThatLeavesAnotherFloatingPointEnvironmentIsAnError) {
  const auto record_of = [](bitproof_kernel_function function) {
    const ForeignRequest request = request_for("bias_gelu_tanh", "boundary");
    ForeignKernel kernel = kernel_at(Location::host, false);
    kernel.load = [=] {
      return callback_implementation("kernel", Location::host, request, {.kernel = function});
    };
    return run_here(plan_foreign(request, kernel, std::nullopt).front());
  };
  const Record flushes = record_of([](const bitproof_call*) {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    return BITPROOF_KERNEL_DONE;
  });
  EXPECT_EQ(_MM_GET_FLUSH_ZERO_MODE(), static_cast<unsigned>(_MM_FLUSH_ZERO_OFF));
  EXPECT_EQ(flushes.verdict, Verdict::error);
  EXPECT_TRUE(
      flushes.reason.starts_with("the kernel returned with another floating-point environment: FTZ is on"))
      << flushes.reason;
  const Record rounds = record_of([](const bitproof_call*) {
    std::fesetround(FE_UPWARD);
    return BITPROOF_KERNEL_DONE;
  });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(rounds.verdict, Verdict::error);
}

// PyTorch's F.gelu(x) is the erf form. Its first difference in fp16, x = 0x2DF1, is what tanh.approx would
// give, too: the other 3,648 tell which it is (bf16: 238 in all). Counts as on an H200,
// fixtures/evidence/own_kernels_sm_90.
TEST(ForeignDiagnosis, NamesTheRightCauseAlone) {
  const auto run = [](const std::string& dtype, auto activation) {
    ForeignRequestText text;
    text.op = "gelu_tanh";
    text.dtype = dtype;
    text.domains = "values";
    ForeignKernel kernel = kernel_at(Location::host, false);
    kernel.reproduce = [](const std::string&, std::uint64_t) { return std::string("again"); };
    kernel.load = [dtype, activation] {
      ElementwiseImplementation implementation = host_implementations().front();
      implementation.can_use = {};
      implementation.run = [dtype, activation](const Tensors& tensors, CUstream_st*) {
        const auto elements = static_cast<std::size_t>(tensors.input.shape[0] * tensors.input.shape[1]);
        const std::uint16_t* const input = kernels::data_of(tensors.input);
        std::transform(input, input + elements, kernels::data_of(tensors.output), [&](std::uint16_t x) {
          return dtype == "bf16" ? activation(reference::Bf16{x}).bits : activation(reference::Fp16{x}).bits;
        });
      };
      return implementation;
    };
    return run_here(plan_foreign(*parse_foreign_request(text, ""), kernel, std::nullopt).front());
  };
  const auto erf = [](auto x) { return reference::gelu_erf(x, reference::kPytorch211Cuda); };
  for (const auto& [dtype, count] : {std::pair("fp16", 3649u), std::pair("bf16", 238u)}) {
    const Record record = run(dtype, erf);
    EXPECT_EQ(record.mismatches, count) << dtype;
    EXPECT_EQ(record.first->parts_at, "activation: as if it were the erf form of GELU");
    EXPECT_EQ(record.first->diagnosis, "differs exactly as a kernel that computes the erf form of GELU would");
  }
  const auto approximate = [](auto x) {
    reference::Profile profile = reference::kPytorch211Cuda;
    profile.tanh = reference::Tanh::tanh_approx;
    return reference::gelu_tanh(x, profile);
  };
  const Record record = run("fp16", approximate);
  EXPECT_EQ(record.mismatches, 645u);
  EXPECT_EQ(record.first->diagnosis, "differs exactly as a kernel that uses tanh.approx.f32 would");
  EXPECT_TRUE(record.first->parts_at.ends_with("as if tanh were tanh.approx.f32")) << record.first->parts_at;
}

// As Triton's and Inductor's kernels do: eager's formula, on the sum in FP32.
TEST(ForeignDiagnosis, NamesASumThatIsNotRounded) {
  ForeignKernel kernel = kernel_at(Location::host, false);
  kernel.reproduce = [](const std::string&, std::uint64_t) { return std::string("again"); };
  kernel.load = [] {
    ElementwiseImplementation implementation = host_implementations().front();
    implementation.can_use = {};
    implementation.run = [](const Tensors& tensors, CUstream_st*) {
      reference::Profile profile = reference::kPytorch211Cuda;
      profile.sum_rounding = reference::SumRounding::none;
      const std::uint16_t *x = kernels::data_of(tensors.input), *bias = kernels::data_of(tensors.bias);
      const std::int64_t rows = tensors.input.shape[0], width = tensors.input.shape[1];
      for (std::int64_t i = 0; i < rows * width; ++i)
        kernels::data_of(tensors.output)[i] =
            reference::bias_gelu_tanh(reference::Fp16{x[i]}, reference::Fp16{bias[i % width]}, profile).bits;
    };
    return implementation;
  };
  const Record record =
      run_here(plan_foreign(request_for("bias_gelu_tanh", "boundary"), kernel, std::nullopt).front());
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->diagnosis, "differs exactly as a kernel that skips the rounding of the sum would");
  EXPECT_EQ(record.first->parts_at, "rounded sum: as if the sum were not rounded to the dtype");
}

// A layer on the CPU, one call of `call`.
Record run_layer(const LinearCall& call, const std::string& domain) {
  ForeignKernel kernel;
  kernel.name = "layer";
  kernel.load_linear = [call] { return call; };
  kernel.reproduce = [](const std::string& of, std::uint64_t block) {
    return of + " " + std::to_string(block);
  };
  const auto plan = plan_foreign(request_for("linear_gelu_tanh", domain), kernel, std::nullopt);
  return run_here(plan.front());
}

std::uint16_t* elements_of(const DLTensor& tensor) { return static_cast<std::uint16_t*>(tensor.data); }

TEST(ForeignLayer, GetsContiguousTensorsWithTheirStrides) {
  const Record record = run_layer(
      [](const LinearTensors& tensors, CUstream_st*) -> std::optional<LibraryAlgorithm> {
        EXPECT_EQ(tensors.x.shape[0], 1);
        EXPECT_EQ(tensors.x.shape[1], 8);
        EXPECT_EQ(tensors.weight.shape[0], 65536);
        EXPECT_EQ(tensors.weight.strides[0], 8);
        EXPECT_EQ(tensors.bias.shape[0], 65536);
        EXPECT_EQ(tensors.bias.ndim, 1);
        EXPECT_EQ(tensors.output.strides[0], 65536);
        EXPECT_EQ(tensors.output.strides[1], 1);
        return std::nullopt;
      },
      "values");
  EXPECT_EQ(record.kinds.unwritten, 65536u) << "it wrote nothing";
  EXPECT_EQ(record.verdict, Verdict::mismatch);
}

TEST(ForeignLayer, MayChangeNeitherOperandsNorWhatLiesBesideTheOutput) {
  const Record record = run_layer(
      [](const LinearTensors& tensors, CUstream_st*) -> std::optional<LibraryAlgorithm> {
        elements_of(tensors.weight)[3] ^= 1;
        elements_of(tensors.bias)[0] ^= 1;
        elements_of(tensors.x)[-1] = 0;
        elements_of(tensors.output)[65536] = 0;
        return std::nullopt;
      },
      "values");
  EXPECT_EQ(record.kinds.out_of_bounds, 4u);
}

TEST(ForeignLayer, IsNotAskedToRefuseWhatNobodyPredicts) {
  const Record record = run_layer(
      [](const LinearTensors& tensors, CUstream_st*) -> std::optional<LibraryAlgorithm> {
        EXPECT_EQ(tensors.x.shape[1] % 8, 0);
        EXPECT_EQ(tensors.weight.shape[0] % 8, 0);
        throw kernels::Refused("closed on Mondays");
      },
      "layout");
  EXPECT_EQ(record.verdict, Verdict::refused);
  EXPECT_NE(record.reason.find("closed on Mondays"), std::string::npos) << record.reason;
}

TEST(WorstVerdict, IsTheOneThatSpeaksForAll) {
  const auto of = [](std::vector<Verdict> verdicts) {
    std::vector<Record> records(verdicts.size());
    for (std::size_t i = 0; i < verdicts.size(); ++i) records[i].verdict = verdicts[i];
    return worst_verdict(records);
  };
  EXPECT_EQ(of({}), Verdict::not_run);
  EXPECT_EQ(of({Verdict::bit_exact, Verdict::bit_exact}), Verdict::bit_exact);
  EXPECT_EQ(of({Verdict::bit_exact, Verdict::within_contract}), Verdict::within_contract);
  EXPECT_EQ(of({Verdict::not_run, Verdict::bit_exact}), Verdict::not_run);
  EXPECT_EQ(of({Verdict::mismatch, Verdict::refused, Verdict::not_run}), Verdict::mismatch);
  EXPECT_EQ(of({Verdict::mismatch, Verdict::error}), Verdict::error);
}

}  // namespace
}  // namespace bitproof::conformance
