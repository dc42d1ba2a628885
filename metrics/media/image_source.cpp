#include "metrics/media/image_source.h"

#include <array>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <opencv2/imgcodecs.hpp>

#include "metrics/media/animation.h"
#include "metrics/media/numbered_images.h"
#include "metrics/media/sample_storage.h"

namespace bitproof::metrics {
namespace {

ImageKind read_kind(const std::filesystem::path& file) {
  std::array<char, kImageHeadBytes> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  return image_kind(std::as_bytes(std::span(head.data(), static_cast<std::size_t>(stream.gcount()))));
}

// OpenCV raises errors for files that it recognises and cannot read; damage is for the decoder to report.
std::size_t count_pages(const std::filesystem::path& file) {
  try {
    return cv::imcount(file.string(), cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception&) {
    return 1;
  }
}

bool has_reader(const std::filesystem::path& file) {
  try {
    return cv::haveImageReader(file.string());
  } catch (const cv::Exception&) {
    return false;
  }
}

// Why the file is more than one picture; OpenCV would show the first without a word.
std::optional<std::string> several_pictures(const std::filesystem::path& file) {
  const ImageKind kind = read_kind(file);
  if (kind == ImageKind::animated_webp)
    return "is an animated WebP, of which only single pictures can be read; extract its frames into a folder";
  if (kind != ImageKind::still) return "is an animation; extract its frames into numbered images";
  if (const std::size_t pages = count_pages(file); pages > 1)
    return fmt::format("holds {} pages; extract them into numbered images", pages);
  return std::nullopt;
}

std::optional<SampleType> sample_type(int depth) {
  switch (depth) {
    case CV_8U:
      return SampleType::u8;
    case CV_16U:
      return SampleType::u16;
    case CV_32F:
      return SampleType::f32;
    default:
      return std::nullopt;
  }
}

std::optional<FrameFormat> image_format(const cv::Mat& image) {
  const std::optional<SampleType> sample = sample_type(image.depth());
  const int channels = image.channels();
  if (!sample || (channels != 1 && channels != 3 && channels != 4)) return std::nullopt;
  FrameFormat format;
  format.model = channels == 1 ? ColorModel::gray : ColorModel::rgb;
  format.sample = *sample;
  format.width = image.cols;
  format.height = image.rows;
  const int depth = static_cast<int>(8 * sample_bytes(*sample));
  for (const char plane : std::string_view(channels == 1 ? "y" : channels == 3 ? "rgb" : "rgba"))
    format.planes.push_back({plane, image.cols, image.rows, depth});
  // FFmpeg's names of the same layouts: gray, rgb24, rgba; gray16le, rgb48le, rgba64le; floats have none with
  // alpha.
  static constexpr std::array<std::array<const char*, 3>, 3> kNames = {
      {{"gray", "rgb24", "rgba"}, {"gray16le", "rgb48le", "rgba64le"}, {"grayf32le", "rgbf32le", "rgbaf32le"}}};
  format.pixel_format =
      kNames[static_cast<std::size_t>(*sample)][channels == 1 ? 0U : static_cast<unsigned>(channels) - 2U];
  format.range = ColorRange::full;
  return format;
}

// OpenCV keeps B, G, R, A interleaved.
template <class T>
void deinterleave(const cv::Mat& image, int channel, std::byte* out) {
  T* sample = reinterpret_cast<T*>(out);
  const int channels = image.channels();
  for (int y = 0; y < image.rows; ++y) {
    const T* row = image.ptr<T>(y) + channel;
    for (int x = 0; x < image.cols; ++x) *sample++ = row[static_cast<std::ptrdiff_t>(x) * channels];
  }
}

void copy_channel(const cv::Mat& image, int channel, SampleType sample, std::byte* out) {
  switch (sample) {
    case SampleType::u8:
      return deinterleave<std::uint8_t>(image, channel, out);
    case SampleType::u16:
      return deinterleave<std::uint16_t>(image, channel, out);
    case SampleType::f32:
      return deinterleave<float>(image, channel, out);
  }
}

// SHA-256 over the picture as FFmpeg lays out the format named above: R, G, B, A interleaved, little-endian.
Digest interleaved_digest(const Frame& frame) {
  const std::size_t bytes = sample_bytes(frame.format->sample);
  const std::size_t channels = frame.planes.size();
  const auto width = static_cast<std::size_t>(frame.format->width);
  std::vector<std::byte> row(width * channels * bytes);
  Sha256 sha;
  for (int y = 0; y < frame.format->height; ++y) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::byte* from = frame.planes[c].data + y * frame.planes[c].stride_bytes;
      for (std::size_t x = 0; x < width; ++x)
        std::copy_n(from + x * bytes, bytes, row.data() + (x * channels + c) * bytes);
    }
    sha.update(row);
  }
  return sha.finish();
}

class ImageSource final : public FrameSource {
 public:
  ImageSource(SourceInfo info, bool digest_frames) : info_(std::move(info)), digest_frames_(digest_frames) {}

  const SourceInfo& info() const override { return info_; }
  std::optional<Digest> stream_digest() const override { return std::nullopt; }

  Result<std::optional<Frame>> next() override {
    if (next_ == info_.files.size()) return std::optional<Frame>();
    const std::filesystem::path& file = info_.files[next_];
    if (const std::optional<std::string> several = several_pictures(file)) return broken(file, *several);
    cv::Mat image;
    std::string reason = "OpenCV cannot decode it";
    try {
      image = cv::imread(file.string(), cv::IMREAD_UNCHANGED);
    } catch (const cv::Exception& error) {
      reason = error.err;
    }
    if (image.empty()) return broken(file, reason);
    std::optional<FrameFormat> format = image_format(image);
    if (!format)
      return broken(file, fmt::format("{} channels of OpenCV depth {}", image.channels(), image.depth()));
    if (!format_ || *format_ != *format) format_ = std::make_shared<const FrameFormat>(std::move(*format));
    ++next_;
    return std::optional<Frame>(frame_of(image));
  }

 private:
  Failure broken(const std::filesystem::path& file, std::string_view reason) const {
    const FailureKind kind = next_ == 0 ? FailureKind::unreadable : FailureKind::decode;
    return {kind, fmt::format("{}: frame {}: {}", file.string(), next_, reason)};
  }

  Frame frame_of(const cv::Mat& image) const {
    Frame frame;
    frame.format = format_;
    SampleStorage storage(*format_);
    const bool rgb = format_->model == ColorModel::rgb;
    for (std::size_t i = 0; i < format_->planes.size(); ++i) {
      std::byte* out = storage.allocate(i);
      const int channel = rgb && i < 3 ? 2 - static_cast<int>(i) : static_cast<int>(i);
      copy_channel(image, channel, format_->sample, out);
      frame.planes.push_back({out, storage.stride_bytes(i)});
    }
    frame.storage = storage.share();
    frame.not_finite = count_not_finite(frame);
    if (digest_frames_) frame.digest = interleaved_digest(frame);
    return frame;
  }

  SourceInfo info_;
  bool digest_frames_;
  std::size_t next_ = 0;
  std::shared_ptr<const FrameFormat> format_;
};

}  // namespace

bool is_image_file(const std::filesystem::path& file) {
  if (!has_image_extension(file)) return false;
  const ImageKind kind = read_kind(file);
  return kind != ImageKind::gif && kind != ImageKind::animated_png && has_reader(file);
}

Result<std::unique_ptr<FrameSource>> open_image(const std::filesystem::path& file, bool digest_frames) {
  SourceInfo info;
  info.path = file.string();
  info.kind = "image";
  info.files = {file};
  info.frames_stated = 1;
  return std::unique_ptr<FrameSource>(std::make_unique<ImageSource>(std::move(info), digest_frames));
}

Result<std::unique_ptr<FrameSource>> open_image_folder(const std::filesystem::path& folder,
                                                       bool digest_frames) {
  Result<std::vector<NumberedImage>> images = list_numbered_images(folder);
  if (!images) return images.failure();
  SourceInfo info;
  info.path = folder.string();
  info.kind = "folder of images";
  for (const NumberedImage& image : *images) info.files.push_back(image.path);
  const std::uint64_t first = images->front().number;
  const std::uint64_t last = images->back().number;
  info.properties = {{"image numbers", fmt::format("{} to {}", first, last)}};
  if (last - first + 1 != images->size())
    info.notes.push_back(
        fmt::format("{}: {} images carry the numbers {} to {}: some are missing, and the frames after "
                    "a gap are compared as if it were not there",
                    info.path, images->size(), first, last));
  info.frames_stated = images->size();
  return std::unique_ptr<FrameSource>(std::make_unique<ImageSource>(std::move(info), digest_frames));
}

}  // namespace bitproof::metrics
