// The body's index arithmetic on grids of any shape: whatever the launch rule says, every element is computed
// once.
#include "kernels/gelu_tanh_body.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/operators.h"
#include "reference/unary_map.h"
#include "tests/reference/support.h"

namespace bitproof::kernels {
namespace {

using reference::Bf16;

struct Grid {
  std::int64_t blocks_x, blocks_y, threads_x, threads_y;
};

template <int kRowsPerThread>
struct Thread {
  const Grid& grid;
  std::int64_t block_x, block_y, thread_x, thread_y;

  std::int64_t vector() const { return block_x * grid.threads_x + thread_x; }
  std::int64_t first_row() const { return block_y * grid.threads_y * kRowsPerThread + thread_y; }
  std::int64_t row_stride() const { return grid.threads_y; }
  std::int64_t tile_stride() const { return grid.blocks_y * grid.threads_y * kRowsPerThread; }
  void wait_for_producer() const {}
  void release_consumer() const {}
};

template <int kVectorBytes, int kRowsPerThread>
void run_in_place(const Grid& grid, std::vector<std::uint16_t>& elements, std::int64_t rows,
                  std::int64_t width) {
  const RowwiseArguments arguments{elements.data(), nullptr, elements.data(), rows, width};
  for (std::int64_t block_y = 0; block_y < grid.blocks_y; ++block_y)
    for (std::int64_t block_x = 0; block_x < grid.blocks_x; ++block_x)
      for (std::int64_t thread_y = 0; thread_y < grid.threads_y; ++thread_y)
        for (std::int64_t thread_x = 0; thread_x < grid.threads_x; ++thread_x)
          gelu_tanh_body<HalfType::bf16, false, kVectorBytes, kRowsPerThread>(
              Thread<kRowsPerThread>{grid, block_x, block_y, thread_x, thread_y}, arguments);
}

// gelu(2) = 1.9546 and gelu(gelu(2)) = 1.905: an element that is computed twice in place, or never, shows.
template <int kVectorBytes, int kRowsPerThread>
void expect_every_element_once() {
  const auto any = [](std::int64_t up_to) { return *rc::gen::inRange<std::int64_t>(1, up_to + 1); };
  const std::int64_t rows = any(40), vectors = any(12), width = vectors * Vector<kVectorBytes>::kElements;
  const std::int64_t threads_x = any(5);
  // Along a row the grid must cover the tensor; along the rows it strides.
  const Grid grid{(vectors + threads_x - 1) / threads_x + any(2) - 1, any(4), threads_x, any(5)};
  std::vector<std::uint16_t> elements(static_cast<std::size_t>(rows * width), 0x4000);
  run_in_place<kVectorBytes, kRowsPerThread>(grid, elements, rows, width);
  const std::uint16_t once = reference::gelu_tanh(Bf16{0x4000}, reference::kPytorch211Cuda).bits;
  for (const std::uint16_t element : elements) RC_ASSERT(element == once);
}

TEST(GeluTanhBody, ComputingTwiceInPlaceShows) {
  const Bf16 once = reference::gelu_tanh(Bf16{0x4000}, reference::kPytorch211Cuda);
  EXPECT_NE(once, Bf16{0x4000});
  EXPECT_NE(reference::gelu_tanh(once, reference::kPytorch211Cuda), once);
}

RC_GTEST_PROP(GeluTanhBodyProperty, AnyGridComputesEveryElementOnceWithOneRowAThread, ()) {
  expect_every_element_once<16, 1>();
  expect_every_element_once<32, 1>();
}
RC_GTEST_PROP(GeluTanhBodyProperty, AnyGridComputesEveryElementOnceWithTwoRowsAThread, ()) {
  expect_every_element_once<16, 2>();
  expect_every_element_once<32, 2>();
}
RC_GTEST_PROP(GeluTanhBodyProperty, AnyGridComputesEveryElementOnceWithFourRowsAThread, ()) {
  expect_every_element_once<16, 4>();
  expect_every_element_once<32, 4>();
}

}  // namespace
}  // namespace bitproof::kernels
