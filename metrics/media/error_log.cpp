#include "metrics/media/error_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "metrics/media/libav.h"

namespace bitproof::metrics {
namespace {

ErrorLog* log_of(void* context) {
  if (context == nullptr) return nullptr;
  const AVClass* type = *static_cast<AVClass**>(context);
  if (type == nullptr) return nullptr;
  if (type == avformat_get_class())
    return static_cast<ErrorLog*>(static_cast<AVFormatContext*>(context)->opaque);
  if (type == avcodec_get_class()) return static_cast<ErrorLog*>(static_cast<AVCodecContext*>(context)->opaque);
  return nullptr;
}

void collect(void* context, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  ErrorLog* log = log_of(context);
  if (log == nullptr) return;
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  std::string_view text = line.data();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.remove_suffix(1);
  if (!text.empty()) log->add(std::string(text));
}

}  // namespace

ErrorLog::ErrorLog() {
  static std::once_flag installed;
  std::call_once(installed, [] { av_log_set_callback(collect); });
}

void ErrorLog::add(std::string line) {
  const std::lock_guard lock(mutex_);
  if (first_.empty()) first_ = std::move(line);
  ++count_;
}

std::string ErrorLog::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

std::uint64_t ErrorLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string av_error_text(int status) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(status, text.data(), text.size());
  return text.data();
}

}  // namespace bitproof::metrics
