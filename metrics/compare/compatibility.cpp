#include "metrics/compare/compatibility.h"

#include <algorithm>

#include <fmt/format.h>

#include "metrics/media/sample_storage.h"

namespace bitproof::metrics {
namespace {

const PlaneFormat* find_plane(const FrameFormat& format, char plane) {
  const auto found = std::find_if(format.planes.begin(), format.planes.end(),
                                  [&](const PlaneFormat& candidate) { return candidate.name == plane; });
  return found == format.planes.end() ? nullptr : &*found;
}

std::string names_of(const FrameFormat& format) {
  std::string names;
  for (const PlaneFormat& plane : format.planes) names += plane.name;
  return names;
}

int depth_of(const FrameFormat& format) {
  int depth = 0;
  for (const PlaneFormat& plane : format.planes) depth = std::max(depth, plane.depth);
  return depth;
}

// Planes of equal name and size, in the order of a.
FrameFormat common_format(const FrameFormat& a, const FrameFormat& b) {
  FrameFormat common = a;
  common.planes.clear();
  if (a.width != b.width || a.height != b.height) return common;
  const bool floating = a.sample == SampleType::f32;
  if (floating != (b.sample == SampleType::f32)) return common;
  for (const PlaneFormat& plane : a.planes) {
    const PlaneFormat* other = find_plane(b, plane.name);
    if (other == nullptr || other->width != plane.width || other->height != plane.height) continue;
    common.planes.push_back({plane.name, plane.width, plane.height, std::max(plane.depth, other->depth)});
  }
  if (common.planes.size() == 1) common.model = ColorModel::gray;
  if (!floating) common.sample = depth_of(common) > 8 ? SampleType::u16 : SampleType::u8;
  return common;
}

template <class From, class To>
void shift_plane(PlaneView<From> plane, int shift, To* out) {
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      *out++ = static_cast<To>(static_cast<unsigned>(plane.row(y)[x]) << shift);
}

void describe_mismatches(const FrameFormat& a, const FrameFormat& b, std::vector<std::string>& out) {
  if (a.width != b.width || a.height != b.height) {
    out.push_back(fmt::format("sizes differ: A is {}x{}, B is {}x{}", a.width, a.height, b.width, b.height));
    return;
  }
  const std::string planes_a = names_of(a), planes_b = names_of(b);
  if (planes_a != planes_b)
    out.push_back(fmt::format("channels differ: A has {} ({}), B has {} ({})", planes_a, a.pixel_format,
                              planes_b, b.pixel_format));
  const auto kind = [](const FrameFormat& format) {
    return format.sample == SampleType::f32 ? std::string("32 bit floating-point")
                                            : fmt::format("{} bit", depth_of(format));
  };
  if (kind(a) != kind(b))
    out.push_back(fmt::format("depths differ: A has {}, B has {} samples", kind(a), kind(b)));
  const PlaneFormat *chroma_a = find_plane(a, 'u'), *chroma_b = find_plane(b, 'u');
  if (chroma_a != nullptr && chroma_b != nullptr &&
      (chroma_a->width != chroma_b->width || chroma_a->height != chroma_b->height))
    out.push_back(fmt::format("chroma sampling differs: A has chroma planes of {}x{}, B of {}x{}",
                              chroma_a->width, chroma_a->height, chroma_b->width, chroma_b->height));
  if (a.range != b.range && a.range != ColorRange::unspecified && b.range != ColorRange::unspecified)
    out.push_back(fmt::format("ranges differ: A is {}, B is {}", name(a.range), name(b.range)));
  if (a.matrix != b.matrix && a.matrix != "unspecified" && b.matrix != "unspecified")
    out.push_back(fmt::format("matrices differ: A is {}, B is {}", a.matrix, b.matrix));
}

}  // namespace

Compatibility check_formats(const FrameFormat& a, const FrameFormat& b) {
  Compatibility result;
  describe_mismatches(a, b, result.mismatches);
  FrameFormat common = common_format(a, b);
  if (common.planes.empty()) return result;
  for (const FrameFormat* format : {&a, &b}) {
    const char* side = format == &a ? "A" : "B";
    for (const PlaneFormat& plane : format->planes) {
      const PlaneFormat* kept = find_plane(common, plane.name);
      if (kept == nullptr)
        result.consequences.push_back(fmt::format("plane {} of {} is left out", plane.name, side));
      else if (kept->depth != plane.depth)
        result.consequences.push_back(fmt::format("plane {} of {} is shifted left by {} bit", plane.name, side,
                                                  kept->depth - plane.depth));
    }
  }
  if (!result.mismatches.empty() && result.consequences.empty())
    result.consequences.push_back("the samples are compared as stored");
  result.common = std::make_shared<const FrameFormat>(std::move(common));
  return result;
}

FrameFormat with_tags(FrameFormat common, const FrameFormat& own, const FrameFormat& other) {
  common.range = own.range == ColorRange::unspecified ? other.range : own.range;
  common.matrix = own.matrix == "unspecified" ? other.matrix : own.matrix;
  return common;
}

Frame align(const Frame& frame, const std::shared_ptr<const FrameFormat>& common) {
  Frame aligned = frame;
  aligned.format = common;
  if (frame.format->planes == common->planes) return aligned;
  aligned.planes.clear();
  SampleStorage storage(*common);
  for (std::size_t i = 0; i < common->planes.size(); ++i) {
    const PlaneFormat* from = find_plane(*frame.format, common->planes[i].name);
    const auto index = static_cast<std::size_t>(from - frame.format->planes.data());
    if (frame.format->sample == common->sample && from->depth == common->planes[i].depth) {
      aligned.planes.push_back(frame.planes[index]);
      continue;
    }
    std::byte* out = storage.allocate(i);
    const int shift = common->planes[i].depth - from->depth;
    if (common->sample == SampleType::u8)
      shift_plane(frame.view<std::uint8_t>(index), shift, reinterpret_cast<std::uint8_t*>(out));
    else if (frame.format->sample == SampleType::u8)
      shift_plane(frame.view<std::uint8_t>(index), shift, reinterpret_cast<std::uint16_t*>(out));
    else
      shift_plane(frame.view<std::uint16_t>(index), shift, reinterpret_cast<std::uint16_t*>(out));
    aligned.planes.push_back({out, storage.stride_bytes(i)});
  }
  // Both owners: some planes still lie in the original.
  aligned.storage = std::make_shared<const std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      frame.storage, storage.share());
  return aligned;
}

}  // namespace bitproof::metrics
