// Where the tensors of a case lie in one arena of 16-bit elements: guard bands around each, alignment and
// aliasing as the case's layout says. Pure arithmetic, the same for an arena on the CPU and on a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <dlpack/dlpack.h>

#include "conformance/elementwise/case.h"
#include "reference/half.h"

namespace bitproof::conformance {

// Elements between tensors that nobody may write; also how far an index error is noticed as a write.
inline constexpr std::uint64_t kGuardElements = 4096;

struct Region {
  std::uint64_t begin = 0;  // elements from the start of the arena
  std::uint64_t rows = 0, width = 0, stride = 0;
  std::uint64_t end() const { return rows == 0 ? begin : begin + (rows - 1) * stride + width; }
};

struct Placement {
  Region input, bias, output;  // bias has no rows for a unary operator
  std::uint64_t arena_elements = 0;
  bool output_is_input = false;
};

// The arena must start at a multiple of 256 bytes.
Placement place(const Case& c, bool has_bias);

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
