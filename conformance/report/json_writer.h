// Writes one compact JSON object, member after member, into a string. For the many records of a report, of
// which a tree of nodes would cost ten times as much; its members mirror JsonReader's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bitproof::conformance {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) { out_ += '{'; }

  void text(std::string_view key, std::string_view value);  // what is no UTF-8 is replaced
  void count(std::string_view key, std::uint64_t value);
  void bits(std::string_view key, std::uint64_t value);
  void number(std::string_view key, double value);
  void boolean(std::string_view key, bool value);
  void json(std::string_view key, std::string_view value);  // that is JSON already

  // Nothing may be written afterwards.
  void end() { out_ += '}'; }

 private:
  void begin(std::string_view key);
  std::string& out_;
  bool first_ = true;
};

// A JSON string, quotes included.
void append_quoted(std::string& out, std::string_view text);

}  // namespace bitproof::conformance
