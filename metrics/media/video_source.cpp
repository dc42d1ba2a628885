#include "metrics/media/video_source.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "metrics/media/error_log.h"
#include "metrics/media/libav.h"
#include "metrics/media/unpack.h"
#include "metrics/media/video_properties.h"

namespace bitproof::metrics {
namespace {

// Errors in the data end the decoding instead of being concealed.
constexpr int kStrict = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;

// Demuxers of files that hold no video: lists of other files, which the digest of the file would not cover, and
// pictures drawn from text, which any text file would be.
constexpr std::array<std::string_view, 5> kLists = {"concat", "dash", "hls", "imf", "sdp"};
constexpr std::array<std::string_view, 5> kTextArt = {"adf", "bin", "idf", "tty", "xbin"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Options {
 public:
  ~Options() { av_dict_free(&entries_); }
  void set(const char* key, const std::string& value) { av_dict_set(&entries_, key, value.c_str(), 0); }
  AVDictionary** get() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

class VideoSource final : public FrameSource {
 public:
  VideoSource(std::unique_ptr<ErrorLog> log, FormatPtr container, CodecPtr decoder, int stream, SourceInfo info,
              const VideoOptions& options)
      : log_(std::move(log)),
        container_(std::move(container)),
        decoder_(std::move(decoder)),
        stream_(stream),
        info_(std::move(info)),
        options_(options) {}

  const SourceInfo& info() const override { return info_; }

  std::optional<Digest> stream_digest() const override { return stream_digest_; }

  Result<std::optional<Frame>> next() override {
    while (true) {
      FramePtr frame(av_frame_alloc());
      const int status = avcodec_receive_frame(decoder_.get(), frame.get());
      note_damage();
      if (status >= 0) return take(std::move(frame));
      if (status == AVERROR_EOF) return finish();
      if (status != AVERROR(EAGAIN)) return broken(fmt::format("the decoder says: {}", av_error_text(status)));
      if (std::optional<Failure> failure = feed()) return *failure;
    }
  }

  std::vector<Property> late_properties() const override {
    std::vector<Property> properties;
    if (packets_ != frames_) properties.push_back({"packets", std::to_string(packets_)});
    return properties;
  }

 private:
  Failure broken(std::string_view reason) const {
    if (frames_ == 0)
      return {FailureKind::unreadable, fmt::format("{}: no frame can be decoded: {}", info_.path, reason)};
    return {FailureKind::decode, fmt::format("{}: decoding failed at frame {}, after {} good frames: {}",
                                             info_.path, frames_, frames_, reason)};
  }

  // Gives the decoder one packet of the stream, or tells it that there are no more.
  std::optional<Failure> feed() {
    while (true) {
      PacketPtr packet(av_packet_alloc());
      const int read = av_read_frame(container_.get(), packet.get());
      reports_seen_ = log_->count();  // what the demuxer reported is for the end
      if (read == AVERROR_EOF) {
        const int drained = avcodec_send_packet(decoder_.get(), nullptr);
        if (drained < 0) return broken(fmt::format("draining the decoder: {}", av_error_text(drained)));
        return std::nullopt;
      }
      if (read < 0) return broken(fmt::format("reading: {}", av_error_text(read)));
      if (packet->stream_index != stream_) continue;
      if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0)
        return broken(
            "the file ends inside a frame, or the packet is "
            "marked as corrupt");
      ++packets_;
      if (packet->pos >= 0) end_of_data_ = packet->pos + packet->size;
      if (options_.digest_stream)
        stream_sha_.update(
            {reinterpret_cast<const std::byte*>(packet->data), static_cast<std::size_t>(packet->size)});
      packet_time_ = packet->pts;
      const int sent = avcodec_send_packet(decoder_.get(), packet.get());
      note_damage();
      if (sent < 0) return broken(fmt::format("the decoder says: {}", av_error_text(sent)));
      return std::nullopt;
    }
  }

  // Some decoders conceal damage and only log it (FFV1's checksums). The report belongs to the packet being
  // decoded, and so to the frame with its time stamp, which may come out later.
  void note_damage() {
    if (log_->count() == reports_seen_) return;
    reports_seen_ = log_->count();
    if (!damaged_time_) damaged_time_ = packet_time_;
  }

  Result<std::optional<Frame>> take(FramePtr native) {
    if (damaged_time_ && (native->pts == *damaged_time_ || *damaged_time_ == AV_NOPTS_VALUE))
      return broken(fmt::format("FFmpeg reported: {}", log_->first()));
    if ((native->flags & AV_FRAME_FLAG_CORRUPT) != 0 || native->decode_error_flags != 0)
      return broken("the decoder marked the frame as damaged");
    Result<FrameFormat> format = frame_format(*native);
    if (!format) return format.failure();
    // One format object for all frames: what follows compares formats by address first.
    if (!format_ || *format_ != *format) format_ = std::make_shared<const FrameFormat>(std::move(*format));

    std::optional<Digest> digest;
    if (options_.digest_frames) digest = frame_digest(*native);
    std::optional<double> seconds;
    if (native->best_effort_timestamp != AV_NOPTS_VALUE)
      seconds =
          static_cast<double>(native->best_effort_timestamp) * av_q2d(container_->streams[stream_]->time_base);
    Result<Frame> frame = unpack(std::move(native), format_);
    if (!frame) return frame.failure();
    frame->digest = digest;
    frame->seconds = seconds;
    ++frames_;
    return std::optional<Frame>(std::move(*frame));
  }

  Result<std::optional<Frame>> finish() {
    if (const std::optional<std::int64_t> rest = bytes_left(); rest)
      return broken(fmt::format("the file ends inside a frame ({} bytes after the last whole one)", *rest));
    if (const std::string reported = log_->first(); !reported.empty())
      return broken(fmt::format("FFmpeg reported: {}", reported));
    if (frames_ == 0) return broken("the stream is empty");
    if (options_.digest_stream) stream_digest_ = stream_sha_.finish();
    return std::optional<Frame>();
  }

  // Formats of bare frames end with the last frame; the demuxer drops an incomplete one without a word.
  std::optional<std::int64_t> bytes_left() const {
    const std::string_view name = container_->iformat->name;
    if (name != "yuv4mpegpipe" && name != "rawvideo") return std::nullopt;
    const std::int64_t size = avio_size(container_->pb);
    if (size <= end_of_data_ || end_of_data_ == 0) return std::nullopt;
    return size - end_of_data_;
  }

  std::unique_ptr<ErrorLog> log_;  // outlives the contexts that report to it
  FormatPtr container_;
  CodecPtr decoder_;
  int stream_;
  SourceInfo info_;
  VideoOptions options_;
  std::shared_ptr<const FrameFormat> format_;
  Sha256 stream_sha_;
  std::optional<Digest> stream_digest_;
  std::uint64_t packets_ = 0, frames_ = 0;
  std::int64_t end_of_data_ = 0;
  std::int64_t packet_time_ = AV_NOPTS_VALUE;  // of the packet last given to the decoder
  std::optional<std::int64_t> damaged_time_;   // of the first packet whose decoding was reported as wrong
  std::uint64_t reports_seen_ = 0;
};

Result<FormatPtr> open_container(const std::filesystem::path& file, const VideoOptions& options,
                                 ErrorLog* log) {
  const auto unreadable = [&](std::string_view what, int status) {
    return Failure{FailureKind::unreadable,
                   fmt::format("{}: {}: {}", file.string(), what, av_error_text(status))};
  };
  AVFormatContext* context = avformat_alloc_context();
  context->opaque = log;
  context->error_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
  Options settings;
  settings.set("ignore_editlist", "1");        // frames are compared as coded
  settings.set("protocol_whitelist", "file");  // whatever a file refers to, nothing is fetched
  settings.set("pattern_type", "none");        // a '%d' in a picture's name stands for itself
  const AVInputFormat* demuxer = nullptr;
  if (options.raw) {
    demuxer = av_find_input_format("rawvideo");
    settings.set("video_size", fmt::format("{}x{}", options.raw->width, options.raw->height));
    settings.set("pixel_format", options.raw->pixel_format);
  }
  // The file protocol by name: a path is never taken for an address.
  const int opened = avformat_open_input(&context, ("file:" + file.string()).c_str(), demuxer, settings.get());
  if (opened < 0) return unreadable("is no video that FFmpeg can open (headerless frames need --raw)", opened);
  FormatPtr container(context);
  if (contains(kLists, container->iformat->name))
    return Failure{FailureKind::unreadable,
                   fmt::format("{}: is no video, but refers to other files ({}); give those", file.string(),
                               container->iformat->long_name)};
  if (contains(kTextArt, container->iformat->name))
    return Failure{FailureKind::unreadable,
                   fmt::format("{}: is no video, but text ({})", file.string(), container->iformat->long_name)};
  const int probed = avformat_find_stream_info(context, nullptr);
  if (probed < 0) return unreadable("its streams cannot be read", probed);
  return container;
}

Result<CodecPtr> open_decoder(const std::filesystem::path& file, const AVStream& stream, int threads,
                              ErrorLog* log) {
  const auto unreadable = [&](std::string_view what) {
    return Failure{FailureKind::unreadable, fmt::format("{}: {}", file.string(), what)};
  };
  const AVCodec* codec = avcodec_find_decoder(stream.codecpar->codec_id);
  if (codec == nullptr)
    return unreadable(fmt::format("FFmpeg has no decoder for {}", avcodec_get_name(stream.codecpar->codec_id)));
  CodecPtr decoder(avcodec_alloc_context3(codec));
  if (avcodec_parameters_to_context(decoder.get(), stream.codecpar) < 0)
    return unreadable("unusable parameters");
  decoder->opaque = log;
  decoder->pkt_timebase = stream.time_base;
  decoder->thread_count = threads;
  decoder->thread_type =
      FF_THREAD_SLICE;  // threads over frames would report damage while another frame comes out
  decoder->err_recognition = kStrict;
  decoder->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;  // a frame that lacks its references is marked, not left out
  const int opened = avcodec_open2(decoder.get(), codec, nullptr);
  if (opened < 0) return unreadable(fmt::format("its decoder does not start: {}", av_error_text(opened)));
  return decoder;
}

int count_streams(const AVFormatContext& container, AVMediaType type) {
  int count = 0;
  for (unsigned i = 0; i < container.nb_streams; ++i)
    count += container.streams[i]->codecpar->codec_type == type &&
             (container.streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
  return count;
}

}  // namespace

Result<std::unique_ptr<FrameSource>> open_video(const std::filesystem::path& file,
                                                const VideoOptions& options) {
  auto log = std::make_unique<ErrorLog>();
  Result<FormatPtr> container = open_container(file, options, log.get());
  if (!container) return container.failure();
  const int index = av_find_best_stream(container->get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0)
    return Failure{FailureKind::unreadable,
                   fmt::format("{}: holds no video stream (headerless frames need --raw)", file.string())};
  // Packets of the other streams need not be read out.
  for (unsigned i = 0; i < (*container)->nb_streams; ++i)
    if (static_cast<int>(i) != index) (*container)->streams[i]->discard = AVDISCARD_ALL;
  const AVStream& stream = *(*container)->streams[index];
  Result<CodecPtr> decoder = open_decoder(file, stream, options.threads, log.get());
  if (!decoder) return decoder.failure();

  SourceInfo info;
  info.path = file.string();
  info.kind = "video";
  info.files = {file};
  info.properties = video_properties(**container, stream, file);
  if (stream.nb_frames > 0) info.frames_stated = static_cast<std::uint64_t>(stream.nb_frames);
  if (const int videos = count_streams(**container, AVMEDIA_TYPE_VIDEO); videos > 1)
    info.notes.push_back(
        fmt::format("{}: has {} video streams; only stream {} is compared", info.path, videos, index));
  return std::unique_ptr<FrameSource>(std::make_unique<VideoSource>(
      std::move(log), std::move(*container), std::move(*decoder), index, std::move(info), options));
}

}  // namespace bitproof::metrics
