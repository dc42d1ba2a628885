// The predicate and the kernel: each reason in its words, and a refused call touches nothing.
#include "kernels/elementwise_guard.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gelu_tanh.h"
#include "tests/kernels/guarded_tensor.h"

namespace bitproof::kernels {
namespace {

using test::GuardedTensor;
using test::kFp16;

// Three tensors that may be served, [3, 64], [64] and [3, 64], with something in them.
struct Call {
  Call() {
    std::iota(input.elements().begin(), input.elements().end(), std::uint16_t{0x3F00});
    std::iota(bias.elements().begin(), bias.elements().end(), std::uint16_t{0x3B00});
  }
  GuardedTensor input{{3, 64}}, bias{{64}}, output{{3, 64}};
};

using Change = std::function<void(Call&)>;

struct Refusal {
  std::string reason;
  Change change;
  int vector_bytes = 16;
};

void all_of_shape(Call& c, const std::vector<std::int64_t>& shape) {
  c.input.set_shape(shape);
  c.output.set_shape(shape);
}

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> list{
      {"input is neither bf16 nor fp16",
       [](Call& c) {
         c.input.description.dtype = {kDLFloat, 32, 1};
       }},
      {"output is neither bf16 nor fp16",
       [](Call& c) {
         c.output.description.dtype = {kDLInt, 16, 1};
       }},
      {"bias is neither bf16 nor fp16",
       [](Call& c) {
         c.bias.description.dtype = {kDLBfloat, 16, 2};
       }},
      {"input and output differ in dtype", [](Call& c) { c.output.description.dtype = kFp16; }},
      {"input and bias differ in dtype", [](Call& c) { c.bias.description.dtype = kFp16; }},
      {"input has rank 0; rank 1 or more is needed", [](Call& c) { c.input.set_shape({}); }},
      {"output has rank 0; rank 1 or more is needed", [](Call& c) { c.output.set_shape({}); }},
      {"bias has rank 0; rank 1 or more is needed", [](Call& c) { c.bias.set_shape({}); }},
      {"bias has rank 2; rank 1 is needed",
       [](Call& c) {
         c.bias.set_shape({1, 64});
       }},
      {"input has no rows: its shape is [0, 64]",
       [](Call& c) {
         all_of_shape(c, {0, 64});
       }},
      {"input has no rows: its shape is [3, -1, 64]",
       [](Call& c) {
         all_of_shape(c, {3, -1, 64});
       }},
      {"input has a width that is not positive: its shape is [3, 0]",
       [](Call& c) {
         all_of_shape(c, {3, 0});
       }},
      {"input has a width that is not positive: its shape is [3, -64]",
       [](Call& c) {
         all_of_shape(c, {3, -64});
       }},
      {"bias has a width that is not positive: its shape is [0]", [](Call& c) { c.bias.set_shape({0}); }},
      {"output has shape [2, 64], input [3, 64]; they must be equal",
       [](Call& c) {
         c.output.set_shape({2, 64});
       }},
      {"output has shape [192], input [3, 64]; they must be equal", [](Call& c) { c.output.set_shape({192}); }},
      {"width 60 is not a multiple of the vector's 8 elements",
       [](Call& c) {
         all_of_shape(c, {3, 60});
       }},
      {"width 56 is not a multiple of the vector's 16 elements",
       [](Call& c) {
         all_of_shape(c, {3, 56});
       },
       32},
      {"bias has length 56, the width is 64", [](Call& c) { c.bias.set_shape({56}); }},
      {"input is not contiguous (row-major without gaps)",
       [](Call& c) {
         c.input.set_strides({72, 1});
       }},
      {"output is not contiguous (row-major without gaps)",
       [](Call& c) {
         c.output.set_strides({1, 3});
       }},
      {"bias is not contiguous (row-major without gaps)", [](Call& c) { c.bias.set_strides({2}); }},
      {"input has no data", [](Call& c) { c.input.description.data = nullptr; }},
      {"output has no data", [](Call& c) { c.output.description.data = nullptr; }},
      {"bias has no data", [](Call& c) { c.bias.description.data = nullptr; }},
      {"input is not aligned to the vector of 16 bytes", [](Call& c) { c.input.description.byte_offset = 2; }},
      {"output is not aligned to the vector of 16 bytes",
       [](Call& c) { c.output.description.byte_offset = 8; }},
      {"bias is not aligned to the vector of 16 bytes", [](Call& c) { c.bias.description.byte_offset = 4; }},
      {"output is not aligned to the vector of 32 bytes",
       [](Call& c) { c.output.description.byte_offset = 16; }, 32},
      {"input and output are on different devices",
       [](Call& c) {
         c.output.description.device = {kDLCUDA, 0};
       }},
      {"input and output are on different devices",
       [](Call& c) {
         c.output.description.device = {kDLCPU, 1};
       }},
      {"input and bias are on different devices",
       [](Call& c) {
         c.bias.description.device = {kDLCUDA, 0};
       }},
      {"output overlaps input without being it exactly",
       [](Call& c) {
         c.output.description.data = c.input.description.data;
         c.output.description.byte_offset = 32;
       }},
      {"output overlaps bias", [](Call& c) { c.output.description.data = c.bias.description.data; }},
      {"output overlaps bias",
       [](Call& c) {
         // In place, with the bias inside the input.
         c.output.description.data = c.input.description.data;
         c.bias.description.data = c.input.description.data;
         c.bias.description.byte_offset = 128;
       }},
  };
  return list;
}

TEST(RowwiseGuard, SaysEveryReasonInItsWords) {
  for (const Refusal& refusal : refusals()) {
    Call c;
    refusal.change(c);
    const Applicability answer =
        can_use_rowwise(c.input.description, &c.bias.description, c.output.description, refusal.vector_bytes);
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.reason, refusal.reason);
  }
}

TEST(RowwiseGuard, TheKernelRefusesInTheSameWordsAndTouchesNothing) {
  for (const Refusal& refusal : refusals()) {
    Call c;
    refusal.change(c);
    const std::vector<std::uint16_t> input = c.input.memory(), bias = c.bias.memory(),
                                     output = c.output.memory();
    EXPECT_EQ(host::can_use_bias_gelu_tanh(c.input.description, c.bias.description, c.output.description,
                                           refusal.vector_bytes)
                  .reason,
              refusal.reason);
    try {
      host::bias_gelu_tanh(c.input.description, c.bias.description, c.output.description, refusal.vector_bytes);
      ADD_FAILURE() << "it ran: " << refusal.reason;
    } catch (const Refused& refused) {
      EXPECT_EQ(refused.what(), refusal.reason);
    }
    EXPECT_EQ(c.input.memory(), input) << refusal.reason;
    EXPECT_EQ(c.bias.memory(), bias) << refusal.reason;
    EXPECT_EQ(c.output.memory(), output) << refusal.reason;
  }
}

TEST(RowwiseGuard, TheUnaryKernelRefusesAsWell) {
  Call c;
  c.output.set_shape({2, 64});
  const std::vector<std::uint16_t> output = c.output.memory();
  EXPECT_THROW(host::gelu_tanh(c.input.description, c.output.description), Refused);
  EXPECT_EQ(host::can_use_gelu_tanh(c.input.description, c.output.description).reason,
            "output has shape [2, 64], input [3, 64]; they must be equal");
  EXPECT_EQ(c.output.memory(), output);
}

TEST(RowwiseGuard, TheHostKernelServesTheCpuAndVectorsThatExist) {
  Call c;
  EXPECT_EQ(
      host::can_use_bias_gelu_tanh(c.input.description, c.bias.description, c.output.description, 17).reason,
      "vectors of 17 bytes do not exist; 16 or 32");
  for (GuardedTensor* const tensor : {&c.input, &c.bias, &c.output}) tensor->description.device = {kDLCUDA, 0};
  EXPECT_EQ(host::can_use_gelu_tanh(c.input.description, c.output.description).reason,
            "input is not on the CPU");
  EXPECT_THROW(host::bias_gelu_tanh(c.input.description, c.bias.description, c.output.description), Refused);
}

std::string answer_after(const Change& change, int vector_bytes = 16) {
  Call c;
  change(c);
  return can_use_rowwise(c.input.description, &c.bias.description, c.output.description, vector_bytes).reason;
}

TEST(RowwiseGuard, AcceptsBothDtypesAndBothVectors) {
  for (const int vector_bytes : {16, 32}) {
    EXPECT_EQ(answer_after([](Call&) {}, vector_bytes), "");
    EXPECT_EQ(answer_after(
                  [](Call& c) {
                    for (GuardedTensor* const tensor : {&c.input, &c.bias, &c.output})
                      tensor->description.dtype = kFp16;
                  },
                  vector_bytes),
              "");
  }
}

TEST(RowwiseGuard, FoldsLeadingAxesIntoRows) {
  EXPECT_EQ(answer_after([](Call& c) { all_of_shape(c, {64}); }), "");
  EXPECT_EQ(answer_after([](Call& c) { all_of_shape(c, {3, 1, 64}); }), "");
  GuardedTensor tensor({2, 5, 3, 64});
  const RowsByWidth shape = rows_by_width(tensor.description);
  EXPECT_EQ(shape.rows, 30);
  EXPECT_EQ(shape.width, 64);
  EXPECT_EQ(rows_by_width(GuardedTensor({64}).description).rows, 1);
}

TEST(RowwiseGuard, IgnoresTheStridesOfAxesOfOneElement) {
  EXPECT_EQ(answer_after([](Call& c) {
              all_of_shape(c, {1, 3, 1, 64});
              c.input.set_strides({9999, 64, 7, 1});
              c.output.set_strides({0, 64, -3, 1});
            }),
            "");
}

TEST(RowwiseGuard, LooksAtTheAddressAfterTheByteOffset) {
  // 16 bytes off, and still within the guard band behind the tensor.
  EXPECT_EQ(answer_after([](Call& c) { c.input.description.byte_offset = 16; }), "");
  EXPECT_EQ(answer_after([](Call& c) { c.input.description.byte_offset = 16; }, 32),
            "input is not aligned to the vector of 32 bytes");
  // A misaligned pointer that the offset mends.
  EXPECT_EQ(answer_after([](Call& c) {
              c.input.description.data = static_cast<char*>(c.input.description.data) + 2;
              c.input.description.byte_offset = 30;
            }),
            "");
}

TEST(RowwiseGuard, AcceptsTheInputAsOutput) {
  EXPECT_EQ(answer_after([](Call& c) { c.output.description.data = c.input.description.data; }), "");
}

TEST(RowwiseGuard, AcceptsNeighboursThatTouchWithoutOverlap) {
  // One allocation of six rows: the output is its second half.
  GuardedTensor both({6, 64});
  Call c;
  c.input.description.data = both.elements().data();
  c.output.description.data = both.elements().data();
  c.output.description.byte_offset = 3 * 64 * 2;
  EXPECT_EQ(can_use_rowwise(c.input.description, &c.bias.description, c.output.description, 16).reason, "");
  c.output.description.byte_offset -= 16;
  EXPECT_EQ(can_use_rowwise(c.input.description, &c.bias.description, c.output.description, 16).reason,
            "output overlaps input without being it exactly");
}

TEST(RowwiseGuard, AcceptsABiasInsideTheInput) {
  EXPECT_EQ(answer_after([](Call& c) { c.bias.description.data = c.input.description.data; }), "");
}

}  // namespace
}  // namespace bitproof::kernels
