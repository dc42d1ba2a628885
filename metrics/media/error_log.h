// What a demuxer and a decoder report as errors on libav's log, kept with the source they belong to. Some
// damage (a Matroska file that ends early) shows there and in no return value.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace bitproof::metrics {

class ErrorLog {
 public:
  ErrorLog();

  // Contexts of libav name their log through their `opaque` field.
  void add(std::string line);
  std::string first() const;  // empty while nothing was reported
  std::uint64_t count() const;

 private:
  mutable std::mutex mutex_;  // decoder threads report too
  std::string first_;
  std::uint64_t count_ = 0;
};

}  // namespace bitproof::metrics
