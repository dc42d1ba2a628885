#include "metrics/media/video_properties.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>
extern "C" {
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include "metrics/media/edit_list.h"

namespace bitproof::metrics {
namespace {

std::string ratio(AVRational value) {
  return value.num == 0 ? "unspecified" : fmt::format("{}/{}", value.num, value.den);
}

std::string or_unspecified(const char* text) { return text == nullptr ? "unspecified" : text; }

// Nine fixed-point numbers, or nothing. FFmpeg 6.1 moved the side data of streams.
std::optional<std::array<std::int32_t, 9>> display_matrix(const AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 0)
  const AVCodecParameters& codec = *stream.codecpar;
  const AVPacketSideData* found =
      av_packet_side_data_get(codec.coded_side_data, codec.nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  const std::uint8_t* bytes = found == nullptr ? nullptr : found->data;
#else
  const std::uint8_t* bytes = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
#endif
  if (bytes == nullptr) return std::nullopt;
  std::array<std::int32_t, 9> matrix{};
  std::memcpy(matrix.data(), bytes, sizeof(matrix));
  return matrix;
}

// Degrees, clockwise as a player would turn the picture, and whether it would mirror it.
std::string rotation(const AVStream& stream) {
  const auto matrix = display_matrix(stream);
  if (!matrix) return "0";
  const auto& m = *matrix;
  const double determinant = static_cast<double>(m[0]) * m[4] - static_cast<double>(m[1]) * m[3];
  if (determinant == 0) return "undefined";
  return fmt::format("{:g}{}", 0.0 - av_display_rotation_get(m.data()), determinant < 0 ? ", mirrored" : "");
}

std::string field_order(AVFieldOrder order) {
  switch (order) {
    case AV_FIELD_UNKNOWN:
    case AV_FIELD_PROGRESSIVE:
      return "progressive";
    case AV_FIELD_TT:
    case AV_FIELD_TB:
      return "top field first";
    case AV_FIELD_BB:
    case AV_FIELD_BT:
      return "bottom field first";
  }
  return "progressive";
}

std::string edit_list(const AVFormatContext& container, const std::filesystem::path& file) {
  if (std::string_view(container.iformat->name).find("mp4") == std::string_view::npos) return "none";
  std::ifstream stream(file, std::ios::binary);
  const auto edits = find_edit_list(stream);
  return edits ? describe(*edits) : "none";
}

}  // namespace

std::vector<Property> video_properties(const AVFormatContext& container, const AVStream& stream,
                                       const std::filesystem::path& file) {
  const AVCodecParameters& codec = *stream.codecpar;
  const std::int64_t start = stream.start_time == AV_NOPTS_VALUE ? 0 : stream.start_time;
  return {
      {"container", container.iformat->name},
      {"codec", avcodec_get_name(codec.codec_id)},
      {"frame rate", ratio(stream.avg_frame_rate)},
      {"start time", fmt::format("{:.6f} s", static_cast<double>(start) * av_q2d(stream.time_base))},
      {"edit list", edit_list(container, file)},
      {"rotation", rotation(stream)},
      {"sample aspect ratio", ratio(codec.sample_aspect_ratio)},
      {"field order", field_order(codec.field_order)},
      {"colour primaries", or_unspecified(av_color_primaries_name(codec.color_primaries))},
      {"colour transfer", or_unspecified(av_color_transfer_name(codec.color_trc))},
      {"chroma location", or_unspecified(av_chroma_location_name(codec.chroma_location))},
  };
}

}  // namespace bitproof::metrics
