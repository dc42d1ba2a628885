#include "reference/linear/gemm.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <hwy/aligned_allocator.h>
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>

#include "reference/environment.h"
#include "reference/linear/gemm_kernel.h"
#include "reference/linear/tensor_core.h"

namespace bitproof::reference {
namespace {

using gemm_kernel::kPanelColumns;

// What cuBLASLt's modelled kernels need of K and N.
constexpr std::size_t kModelledMultiple = 8;

// Depth and rows of one packed piece: 128 * 32 columns * 6 bytes of panel stay in L1 or close to it, while the
// rows' part (128 * 256 rows * 8 bytes) streams from L2.
constexpr std::size_t kPieceDepth = 128;
constexpr std::size_t kPieceRows = 256;
static_assert(kPieceDepth % kTensorCoreStep == 0);

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct DepthRange {
  std::size_t begin, end;
};

// The chunks that the splits sum on their own, in order. At least one, also for a depth of 0.
std::vector<DepthRange> chunks(std::size_t depth, int splits) {
  if (splits == 1) return {{0, depth}};
  const std::size_t chunk = std::max<std::size_t>(split_chunk(depth, splits), 1);
  std::vector<DepthRange> result;
  std::size_t begin = 0;
  do {
    result.push_back({begin, std::min(depth, begin + chunk)});
    begin += chunk;
  } while (begin < depth);
  return result;
}

template <Half T>
void check_arguments(std::span<const T> x, std::span<const T> w, const GemmShape& shape, int splits) {
  if (x.size() != shape.rows * shape.depth || w.size() != shape.columns * shape.depth)
    throw std::invalid_argument("gemm: an operand's size is not that of its shape");
  if (splits < 1) throw std::invalid_argument("gemm: the split count must be at least 1");
  if (shape.depth % kModelledMultiple != 0)
    throw std::invalid_argument("gemm: the depth must be a multiple of 8");
}

// All rows of x, each padded with zeros to whole steps.
template <Half T>
struct RowsBuffer {
  RowsBuffer(std::span<const T> x, const GemmShape& shape)
      : stride(round_up(shape.depth, kTensorCoreStep)),
        values(shape.rows * stride),
        exponent_pairs(values.size(), gemm_kernel::exponent_pair(gemm_kernel::kZeroExponent)) {
    tbb::parallel_for(std::size_t{0}, shape.rows, [&](std::size_t row) {
      for (std::size_t k = 0; k < shape.depth; ++k) {
        const float value = widen(x[row * shape.depth + k]);
        values[row * stride + k] = value;
        exponent_pairs[row * stride + k] =
            gemm_kernel::exponent_pair(gemm_kernel::packed_exponent(kTensorCoreFormat<T>, value));
      }
    });
  }

  std::size_t stride;
  std::vector<float> values;
  std::vector<std::int32_t> exponent_pairs;
};

// One piece of a panel, repacked for every piece that a task meets.
template <Half T>
class PanelBuffer {
 public:
  // Columns `column`... and the depth range, both padded with zeros to the whole piece.
  gemm_kernel::PackedPanel pack(std::span<const T> w, const GemmShape& shape, std::size_t column,
                                DepthRange range) {
    const std::size_t columns = std::min(kPanelColumns, shape.columns - column);
    const std::size_t steps = (range.end - range.begin + kTensorCoreStep - 1) / kTensorCoreStep;
    std::fill_n(values_.get(), steps * kTensorCoreStep * kPanelColumns, 0.0f);
    std::fill_n(exponents_.get(), steps * kTensorCoreStep * kPanelColumns,
                static_cast<std::int16_t>(gemm_kernel::kZeroExponent));
    for (std::size_t j = 0; j < columns; ++j) {
      const T* const source = w.data() + (column + j) * shape.depth + range.begin;
      for (std::size_t k = 0; k < range.end - range.begin; ++k) {
        const float value = widen(source[k]);
        values_[k * kPanelColumns + j] = value;
        exponents_[k * kPanelColumns + j] =
            static_cast<std::int16_t>(gemm_kernel::packed_exponent(kTensorCoreFormat<T>, value));
      }
    }
    return {values_.get(), exponents_.get(), steps};
  }

 private:
  hwy::AlignedFreeUniquePtr<float[]> values_ = hwy::AllocateAligned<float>(kPieceDepth * kPanelColumns);
  hwy::AlignedFreeUniquePtr<std::int16_t[]> exponents_ =
      hwy::AllocateAligned<std::int16_t>(kPieceDepth * kPanelColumns);
};

// The accumulators of some rows and one panel of columns.
template <Half T>
class Tile {
 public:
  Tile(const RowsBuffer<T>& x, std::span<const T> w, const GemmShape& shape, std::size_t row, std::size_t rows,
       std::size_t column)
      : x_(x), w_(w), shape_(shape), row_(row), rows_(rows), column_(column) {}

  void sum_chunk(DepthRange chunk) {
    std::fill_n(partial_.get(), rows_ * kPanelColumns, 0.0f);
    for (std::size_t begin = chunk.begin; begin < chunk.end; begin += kPieceDepth) {
      const DepthRange piece{begin, std::min(chunk.end, begin + kPieceDepth)};
      const gemm_kernel::PackedRows rows{x_.values.data() + row_ * x_.stride + begin,
                                         x_.exponent_pairs.data() + row_ * x_.stride + begin, rows_, x_.stride};
      gemm_kernel::accumulate(kTensorCoreFormat<T>, rows, panel_.pack(w_, shape_, column_, piece),
                              partial_.get());
    }
  }

  template <class Store>
  void for_each(Store&& store) const {
    const std::size_t columns = std::min(kPanelColumns, shape_.columns - column_);
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t j = 0; j < columns; ++j)
        store((row_ + r) * shape_.columns + column_ + j, partial_[r * kPanelColumns + j]);
    }
  }

 private:
  const RowsBuffer<T>& x_;
  std::span<const T> w_;
  const GemmShape& shape_;
  std::size_t row_, rows_, column_;
  PanelBuffer<T> panel_;
  hwy::AlignedFreeUniquePtr<float[]> partial_ = hwy::AllocateAligned<float>(rows_ * kPanelColumns);
};

}  // namespace

std::optional<GemmRefusal> refuse_prediction(const GemmShape& shape, int splits) {
  if (shape.depth % kModelledMultiple != 0 || shape.columns % kModelledMultiple != 0) {
    return GemmRefusal{
        "K = " + std::to_string(shape.depth) + " and N = " + std::to_string(shape.columns) +
        " must both be multiples of 8: otherwise cuBLASLt falls back to older kernels whose order of "
        "summation is not modelled"};
  }
  if (splits < 1) return GemmRefusal{"the split count " + std::to_string(splits) + " is not a positive number"};
  return std::nullopt;
}

std::size_t split_chunk(std::size_t depth, int splits) {
  const auto count = static_cast<std::size_t>(splits);
  return round_up((depth + count - 1) / count, 64);
}

template <Half T>
std::vector<float> gemm(std::span<const T> x, std::span<const T> w, const GemmShape& shape, int splits) {
  check_arguments(x, w, shape, splits);
  const RowsBuffer<T> packed_x(x, shape);
  const std::vector<DepthRange> ranges = chunks(shape.depth, splits);
  std::vector<float> result(shape.rows * shape.columns);

  const std::size_t row_pieces = round_up(shape.rows, kPieceRows) / kPieceRows;
  const std::size_t panels = round_up(shape.columns, kPanelColumns) / kPanelColumns;
  const tbb::blocked_range2d<std::size_t> tiles(0, row_pieces, 1, 0, panels, 1);
  tbb::parallel_for(tiles, [&](const tbb::blocked_range2d<std::size_t>& part) {
    require_environment();
    for (std::size_t i = part.rows().begin(); i < part.rows().end(); ++i) {
      for (std::size_t j = part.cols().begin(); j < part.cols().end(); ++j) {
        const std::size_t row = i * kPieceRows;
        Tile<T> tile(packed_x, w, shape, row, std::min(kPieceRows, shape.rows - row), j * kPanelColumns);
        tile.sum_chunk(ranges.front());
        tile.for_each([&](std::size_t index, float partial) { result[index] = partial; });
        for (std::size_t c = 1; c < ranges.size(); ++c) {
          tile.sum_chunk(ranges[c]);
          tile.for_each([&](std::size_t index, float partial) {
            result[index] = canonical_fp32(result[index] + partial);
          });
        }
      }
    }
  });
  return result;
}

template <Half T>
std::vector<float> gemm_plain(std::span<const T> x, std::span<const T> w, const GemmShape& shape, int splits) {
  check_arguments(x, w, shape, splits);
  const std::vector<DepthRange> ranges = chunks(shape.depth, splits);
  const auto partial = [&](std::size_t i, std::size_t j, DepthRange range) {
    float c = 0;
    for (std::size_t k = range.begin; k < range.end; k += kTensorCoreStep) {
      const std::size_t count = std::min<std::size_t>(kTensorCoreStep, range.end - k);
      c = tensor_core_step(x.subspan(i * shape.depth + k, count), w.subspan(j * shape.depth + k, count), c);
    }
    return c;
  };
  require_environment();
  std::vector<float> result;
  result.reserve(shape.rows * shape.columns);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      float sum = partial(i, j, ranges.front());
      for (std::size_t c = 1; c < ranges.size(); ++c) sum = canonical_fp32(sum + partial(i, j, ranges[c]));
      result.push_back(sum);
    }
  }
  return result;
}

template <Half T>
std::vector<T> gather_rows(std::span<const T> matrix, std::size_t depth, std::span<const std::size_t> rows) {
  std::vector<T> result;
  result.reserve(rows.size() * depth);
  for (const std::size_t row : rows) {
    const std::span<const T> source = matrix.subspan(row * depth, depth);
    result.insert(result.end(), source.begin(), source.end());
  }
  return result;
}

#define BITPROOF_INSTANTIATE(T)                                                                          \
  template std::vector<float> gemm(std::span<const T>, std::span<const T>, const GemmShape&, int);       \
  template std::vector<float> gemm_plain(std::span<const T>, std::span<const T>, const GemmShape&, int); \
  template std::vector<T> gather_rows(std::span<const T>, std::size_t, std::span<const std::size_t>);
BITPROOF_INSTANTIATE(Bf16)
BITPROOF_INSTANTIATE(Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::reference
