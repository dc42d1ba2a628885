// Where the tensors of a case lie in one arena of 16-bit elements: guard bands around each, alignment and
// aliasing as the case's layout says. Pure arithmetic, the same for an arena on the CPU and on a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <dlpack/dlpack.h>

#include "conformance/elementwise/case.h"
#include "conformance/poison.h"
#include "reference/half.h"

namespace bitproof::conformance {

// Elements between tensors that nobody may write; also how far an index error is noticed as a write.
inline constexpr std::uint64_t kGuardElements = 4096;

struct Region {
  std::uint64_t begin = 0;  // elements from the start of the arena
  std::uint64_t rows = 0, width = 0, stride = 0;

  BITPROOF_HOST_DEVICE std::uint64_t end() const {
    return rows == 0 ? begin : begin + (rows - 1) * stride + width;
  }
  // Whether an element of the arena is one of the tensor's; if so, which.
  BITPROOF_HOST_DEVICE bool holds(std::uint64_t element, std::uint64_t& row, std::uint64_t& column) const {
    if (element < begin || element >= end()) return false;
    row = (element - begin) / stride;
    column = (element - begin) % stride;
    return column < width;
  }
};

struct Placement {
  Region input, bias, output;  // bias has no rows for a unary operator
  std::uint64_t arena_elements = 0;
  bool output_is_input = false;
};

// The arena must start at a multiple of 256 bytes.
Placement place(const Case& c, bool has_bias);

// What an element of the arena is before the launch: input and bias as the source gives them, poison elsewhere.
BITPROOF_HOST_DEVICE inline std::uint16_t bits_before_launch(const Placement& placement,
                                                             const InputSource& source, std::uint64_t element) {
  std::uint64_t row = 0, column = 0;
  if (placement.input.holds(element, row, column)) return source.input(row, column);
  if (placement.bias.holds(element, row, column)) return source.bias(column);
  return kPoison;
}

// Where an element of the arena lies, in words: "element 0 past the end of the output".
std::string in_words(const Placement& placement, std::uint64_t element);

// The tensors of a case as a kernel receives them. Not copyable: the tensors point to the shapes.
class Tensors {
 public:
  Tensors(const Placement& placement, bool has_bias, std::uint16_t* arena, reference::Dtype dtype,
          DLDevice device);
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  DLTensor input{}, bias{}, output{};
  bool has_bias = false;

 private:
  struct Axes {
    std::array<std::int64_t, 2> shape{}, strides{};
  };
  Axes input_axes_, output_axes_, bias_axes_;
};

}  // namespace bitproof::conformance
