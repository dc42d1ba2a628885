#include "conformance/report/json_writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/json_reader.h"

namespace bitproof::conformance {

void append_quoted(std::string& out, std::string_view text) {
  const bool plain =
      std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

void JsonWriter::begin(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  out_ += '"';
  out_ += key;
  out_ += "\":";
}

void JsonWriter::text(std::string_view key, std::string_view value) {
  begin(key);
  append_quoted(out_, value);
}

void JsonWriter::count(std::string_view key, std::uint64_t value) {
  begin(key);
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonWriter::bits(std::string_view key, std::uint64_t value) {
  begin(key);
  append_quoted(out_, to_hex(value));
}

void JsonWriter::number(std::string_view key, double value) {
  begin(key);
  out_ += number_to_json(value).dump();
}

void JsonWriter::boolean(std::string_view key, bool value) {
  begin(key);
  out_ += value ? "true" : "false";
}

void JsonWriter::json(std::string_view key, std::string_view value) {
  begin(key);
  out_ += value;
}

}  // namespace bitproof::conformance
