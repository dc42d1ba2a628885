#include "kernels/tensor.h"

#include <gtest/gtest.h>

#include "tests/kernels/guarded_tensor.h"

namespace bitproof::kernels {
namespace {

using test::GuardedTensor;

TEST(HalfTypeOfATensor, IsOneOfTheTwo16BitFormats) {
  GuardedTensor tensor({8});
  tensor.description.dtype = {kDLBfloat, 16, 1};
  EXPECT_EQ(half_type(tensor.description), HalfType::bf16);
  tensor.description.dtype = {kDLFloat, 16, 1};
  EXPECT_EQ(half_type(tensor.description), HalfType::fp16);
  for (const DLDataType other : {DLDataType{kDLFloat, 32, 1}, DLDataType{kDLFloat, 16, 2},
                                 DLDataType{kDLInt, 16, 1}, DLDataType{kDLBfloat, 8, 1}}) {
    tensor.description.dtype = other;
    EXPECT_FALSE(half_type(tensor.description));
  }
}

TEST(DataOfATensor, IncludesTheByteOffset) {
  GuardedTensor tensor({8});
  tensor.description.byte_offset = 6;
  EXPECT_EQ(data_of(tensor.description), tensor.elements().data() + 3);
}

TEST(Contiguity, NullStridesMeanRowMajorWithoutGaps) {
  EXPECT_TRUE(is_contiguous(GuardedTensor({3, 5}).description));
}

TEST(Contiguity, StridesMustBeThoseOfRowMajor) {
  GuardedTensor tensor({2, 3, 4});
  tensor.set_strides({12, 4, 1});
  EXPECT_TRUE(is_contiguous(tensor.description));
  for (const auto& strides :
       std::vector<std::vector<std::int64_t>>{{12, 4, 2}, {12, 5, 1}, {16, 4, 1}, {4, 8, 1}, {12, 4, 0}}) {
    tensor.set_strides(strides);
    EXPECT_FALSE(is_contiguous(tensor.description));
  }
}

TEST(Contiguity, TheStrideOfAnAxisOfOneElementDoesNotMatter) {
  GuardedTensor tensor({1, 3, 1, 4});
  tensor.set_strides({777, 4, -5, 1});
  EXPECT_TRUE(is_contiguous(tensor.description));
  tensor.set_strides({777, 5, -5, 1});
  EXPECT_FALSE(is_contiguous(tensor.description));
}

TEST(ElementCount, IsTheProductOfTheExtents) {
  EXPECT_EQ(element_count(GuardedTensor({2, 3, 4}).description), 24);
  EXPECT_EQ(element_count(GuardedTensor({0, 4}).description), 0);
  EXPECT_EQ(element_count(GuardedTensor(std::vector<std::int64_t>{}).description), 1);
}

TEST(ShapeText, ListsTheExtents) {
  EXPECT_EQ(shape_text(GuardedTensor({3, 4096}).description), "[3, 4096]");
  EXPECT_EQ(shape_text(GuardedTensor({7}).description), "[7]");
  EXPECT_EQ(shape_text(GuardedTensor(std::vector<std::int64_t>{}).description), "[]");
}

}  // namespace
}  // namespace bitproof::kernels
