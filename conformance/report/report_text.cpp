#include "conformance/report/report_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/record_json.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance {
namespace {

constexpr std::string_view kRecordsBegin = ",\n  \"records\": [";
constexpr std::string_view kRecordsEnd = "\n  ],\n";
constexpr std::string_view kHashBegin = ",\"sha256\":\"";
constexpr std::string_view kHashEnd = "\"}";
constexpr std::size_t kHashDigits = 64;

}  // namespace

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

RecordLine record_line(const Record& record) {
  RecordLine line;
  line.text.reserve(1024);
  append_record(line.text, record);
  line.sha256 = sha256_hex(line.text);
  line.text.pop_back();  // the closing brace
  line.text += kHashBegin;
  line.text += line.sha256;
  line.text += kHashEnd;
  return line;
}

std::optional<HashedLine> split_line(std::string_view line) {
  constexpr std::size_t kTail = kHashBegin.size() + kHashDigits + kHashEnd.size();
  if (line.size() < kTail || !line.ends_with(kHashEnd)) return std::nullopt;
  const std::string_view tail = line.substr(line.size() - kTail);
  if (!tail.starts_with(kHashBegin)) return std::nullopt;
  return HashedLine{std::string{line.substr(0, line.size() - kTail)} + "}",
                    tail.substr(kHashBegin.size(), kHashDigits)};
}

std::string content_hash(const Json& header, const std::vector<std::string>& record_hashes) {
  std::string text = compact(header);
  text.reserve(text.size() + record_hashes.size() * (kHashDigits + 1));
  for (const std::string& hash : record_hashes) {
    text += '\n';
    text += hash;
  }
  return sha256_hex(text);
}

void write_report(const Json& header, std::size_t count, const std::function<RecordLine(std::size_t)>& line,
                  const std::function<void(std::string_view)>& sink) {
  std::string head = header.dump(2, ' ', false, Json::error_handler_t::replace);
  head.resize(head.size() - 2);  // the closing brace and the end of line before it
  sink(head);
  sink(kRecordsBegin);
  std::vector<std::string> hashes;
  hashes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    RecordLine next = line(i);
    sink(i == 0 ? "\n" : ",\n");
    sink(next.text);
    hashes.push_back(std::move(next.sha256));
  }
  sink(kRecordsEnd);
  sink(fmt::format("  \"content_sha256\": \"{}\"\n}}\n", content_hash(header, hashes)));
}

std::optional<ReportParts> split_report(std::string_view text) {
  const std::size_t begin = text.find(kRecordsBegin);
  const std::size_t end = text.rfind(kRecordsEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || begin + kRecordsBegin.size() > end)
    return std::nullopt;
  std::string_view lines = text.substr(begin + kRecordsBegin.size(), end - begin - kRecordsBegin.size());
  ReportParts parts;
  parts.header = text.substr(0, begin + kRecordsBegin.size());
  parts.header += text.substr(end);
  while (!lines.empty()) {
    if (lines.front() != '\n') return std::nullopt;
    lines.remove_prefix(1);
    const std::size_t length = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, length);
    lines.remove_prefix(length);
    if (!lines.empty()) {  // all but the last end with a comma
      if (!line.ends_with(',')) return std::nullopt;
      line.remove_suffix(1);
    }
    parts.records.push_back(line);
  }
  return parts;
}

}  // namespace bitproof::conformance
