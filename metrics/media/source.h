// Where frames come from: a video, an image file, or a folder of numbered images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/identity/sha256.h"
#include "metrics/media/frame.h"
#include "metrics/result.h"

namespace bitproof::metrics {

// What the container says that is not a sample; compared by name, reported when different, never applied.
struct Property {
  std::string name, value;
};

struct SourceInfo {
  std::string path;
  std::string kind;                          // "video", "image", "folder of images"
  std::vector<std::filesystem::path> files;  // what the file digest covers, in order
  std::vector<Property> properties;
  std::vector<std::string> notes;              // worth a warning: further streams, gaps in the numbering
  std::optional<std::uint64_t> frames_stated;  // by the container or the folder; for the progress bar
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;

  virtual const SourceInfo& info() const = 0;

  // The next frame in decoding order of presentation; nothing at the end. After a failure or the end, call no
  // more.
  virtual Result<std::optional<Frame>> next() = 0;

  // After the end: SHA-256 over the payload of the stream's packets; nothing when not asked for or not a
  // stream.
  virtual std::optional<Digest> stream_digest() const = 0;

  // After the end: properties that only the whole stream shows.
  virtual std::vector<Property> late_properties() const { return {}; }
};

}  // namespace bitproof::metrics
