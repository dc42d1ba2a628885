// Reading JSON of an expected shape. A JsonReader is a place in a document; what is asked of it and is not
// there is noted once, with the place, and answered with a default, so that the code that reads a structure has
// no error paths.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace bitproof::conformance {

// Keeps the order of members, so that files read in the order in which they were written.
using Json = nlohmann::ordered_json;

// The first thing that was not as expected.
struct Complaint {
  std::string place;  // JSON pointer
  std::string what;
};

class JsonReader {
 public:
  JsonReader(const Json& document, std::optional<Complaint>& complaint)
      : node_(&document), complaint_(&complaint) {}

  // Members of a member may be asked of a temporary: reader["a"]["b"].text(). A named reader must not outlive
  // its parent.
  JsonReader operator[](std::string_view key) const;
  JsonReader operator[](std::size_t index) const;

  bool present() const { return node_ != nullptr; }
  std::size_t size() const;  // of an array; a complaint and 0 for anything else

  std::string text() const;
  std::string text_or(std::string_view fallback) const { return present() ? text() : std::string{fallback}; }
  std::uint64_t count() const;  // a number from 0 to 2^64 - 1
  std::uint64_t bits() const;   // "0x" and 1 to 16 hexadecimal digits
  double number() const;        // a number, or "nan", "inf", "-inf"
  bool boolean() const;

  // Complains about members of an object that are not among `known`.
  void only(std::initializer_list<std::string_view> known) const;

  void complain(std::string what) const;
  std::string pointer() const;
  const Json* node() const { return node_; }

 private:
  const Json* node_ = nullptr;
  std::optional<Complaint>* complaint_ = nullptr;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

// "0x0000000000000000", the form that bits() reads.
std::string to_hex(std::uint64_t bits);

// A number, or "nan", "inf", "-inf", the form that number() reads.
Json number_to_json(double value);

}  // namespace bitproof::conformance
