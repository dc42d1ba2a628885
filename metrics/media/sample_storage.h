// Memory for planes that have to be laid out anew.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "metrics/media/frame.h"

namespace bitproof::metrics {

constexpr std::size_t sample_bytes(SampleType type) {
  return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4;
}

// Planes of one frame, rows without padding.
class SampleStorage {
 public:
  explicit SampleStorage(const FrameFormat& format);

  std::byte* allocate(std::size_t plane);  // valid as long as what share() returns
  std::ptrdiff_t stride_bytes(std::size_t plane) const;
  std::shared_ptr<const void> share() const { return planes_; }

 private:
  const FrameFormat& format_;
  std::shared_ptr<std::vector<std::vector<std::byte>>> planes_;
};

// Samples of a floating-point frame that are NaN or infinite; 0 for integers.
std::uint64_t count_not_finite(const Frame& frame);

}  // namespace bitproof::metrics
