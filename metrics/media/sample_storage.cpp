#include "metrics/media/sample_storage.h"

#include <algorithm>
#include <cmath>

namespace bitproof::metrics {

SampleStorage::SampleStorage(const FrameFormat& format)
    : format_(format), planes_(std::make_shared<std::vector<std::vector<std::byte>>>(format.planes.size())) {}

std::byte* SampleStorage::allocate(std::size_t plane) {
  std::vector<std::byte>& memory = (*planes_)[plane];
  memory.resize(format_.planes[plane].samples() * sample_bytes(format_.sample));
  return memory.data();
}

std::ptrdiff_t SampleStorage::stride_bytes(std::size_t plane) const {
  return static_cast<std::ptrdiff_t>(format_.planes[plane].width) *
         static_cast<std::ptrdiff_t>(sample_bytes(format_.sample));
}

std::uint64_t count_not_finite(const Frame& frame) {
  if (frame.format->sample != SampleType::f32) return 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < frame.planes.size(); ++i) {
    const PlaneView<float> plane = frame.view<float>(i);
    for (int y = 0; y < plane.height; ++y)
      count += static_cast<std::uint64_t>(std::count_if(plane.row(y), plane.row(y) + plane.width,
                                                        [](float value) { return !std::isfinite(value); }));
  }
  return count;
}

}  // namespace bitproof::metrics
